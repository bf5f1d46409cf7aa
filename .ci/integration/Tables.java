import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler;
import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler;
import java.net.InetSocketAddress;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * AWS's DynamoDB Local, in memory, on the loopback interface alone and on a port
 * that is free, which it prints. Its own main listens to the whole network, and
 * tells AWS of its use.
 */
class Tables {
  public static void main(String[] args) throws Exception {
    var server = new Server(new InetSocketAddress("127.0.0.1", 0));
    server.setHandler(
        new LocalDynamoDBServerHandler(
            new LocalDynamoDBRequestHandler(0, true, null, true, false), null));
    server.start();
    System.out.println(((ServerConnector) server.getConnectors()[0]).getLocalPort());
    server.join();
  }
}

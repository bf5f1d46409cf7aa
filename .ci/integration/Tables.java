import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler;
import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler;
import java.net.InetSocketAddress;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * AWS's DynamoDB Local, in memory, on the loopback interface only and on a free
 * port, which it prints. Its own main listens to the whole network, and reports
 * its use to AWS.
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

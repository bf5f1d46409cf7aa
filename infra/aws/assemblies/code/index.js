exports.handler = async () => ({ statusCode: 200, body: process.env.TOPIC });

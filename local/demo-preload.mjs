/**
 * Loaded into a demo server before its own code (`node --import`), because the package has no such options: makes it listen on loopback
 * only, and exit when the gateway that started it is gone.
 */
import net from 'node:net';

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function listenOnLoopback(port, ...rest) {
  return listen.call(this, port, '127.0.0.1', ...rest);
};

process.once('disconnect', () => process.exit(0));

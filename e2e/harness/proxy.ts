/**
 * A TCP proxy on loopback between a browser and the daemon, which simulates network failures.
 *
 * The method resume forwards the buffered bytes in order, as TCP does. The method cut resets every open connection, and
 * each new connection until resume is called.
 */
import { connect, createServer, type Socket } from 'node:net';

/**
 * PipeDirection is the direction of traffic: "up" from the browser to the daemon, "down" from the daemon to the
 * browser.
 */
export type PipeDirection = 'up' | 'down' | 'both';

export interface Proxy {
  readonly port: number;
  readonly openConnections: number;
  readonly acceptedConnectionCount: number;
  readonly forwardedByteCount: { readonly up: number; readonly down: number };
  /** While the proxy stalls, open connections stay open, and new connections receive no bytes. */
  stallTraffic(pipeDirection?: PipeDirection): void;
  /** Unless allowNewConnections is true, cut also resets each new connection until resume is called. */
  cut(allowNewConnections?: boolean): void;
  resume(pipeDirection?: PipeDirection): void;
  /**
   * blackholeConnections discards all further bytes of the open connections without closing them, like a lost network
   * route.
   */
  blackholeConnections(): void;
  close(): Promise<void>;
}

interface SocketPipe {
  readonly pipeDirection: 'up' | 'down';
  readonly sourceSocket: Socket;
  readonly targetSocket: Socket;
  readonly bufferedWrites: (() => void)[];
}

export async function startProxy(port: number): Promise<Proxy> {
  const socketPipes = new Set<SocketPipe>();
  const blackholedSockets = new WeakSet<Socket>();
  const isStalled = { up: false, down: false };
  const bytes = { up: 0, down: 0 };
  let isRejectingConnections = false;
  let connectionCount = 0;
  const server = createServer({ noDelay: true }, (browser) => {
    if (isRejectingConnections) {
      browser.on('error', () => undefined);
      browser.resetAndDestroy();
      return;
    }
    connectionCount++;
    const serverSocket = connect({ port, host: '127.0.0.1', noDelay: true });
    forwardSocketData({ pipeDirection: 'up', sourceSocket: browser, targetSocket: serverSocket, bufferedWrites: [] });
    forwardSocketData({ pipeDirection: 'down', sourceSocket: serverSocket, targetSocket: browser, bufferedWrites: [] });
  });

  function forwardSocketData(forwardedSocketPair: SocketPipe): void {
    const { sourceSocket, targetSocket: destinationSocket, pipeDirection, bufferedWrites } = forwardedSocketPair;
    socketPipes.add(forwardedSocketPair);
    // Node.js emits "end" and "close" even for a paused socket, so the proxy buffers "end" and "close" too.
    const forwardOrBuffer = (action: () => void) => {
      if (blackholedSockets.has(sourceSocket)) return;
      if (isStalled[pipeDirection]) bufferedWrites.push(action);
      else action();
    };
    sourceSocket.on('data', (chunk) => {
      if (isStalled[pipeDirection]) sourceSocket.pause(); // the kernel buffers the bytes that the proxy does not read
      forwardOrBuffer(() => {
        bytes[pipeDirection] += chunk.length;
        if (!destinationSocket.write(chunk)) sourceSocket.pause();
      });
    });
    destinationSocket.on('drain', () => sourceSocket.resume());
    sourceSocket.on('end', () => forwardOrBuffer(() => destinationSocket.end()));
    sourceSocket.on('error', () => undefined); // after an error, the socket also emits close
    sourceSocket.on('close', (hasError) => {
      forwardOrBuffer(() => {
        socketPipes.delete(forwardedSocketPair);
        if (hasError) destinationSocket.resetAndDestroy();
      });
    });
  }

  function resumeDirection(pipeDirection: 'up' | 'down'): void {
    isStalled[pipeDirection] = false;
    for (const forwardedSocketPair of socketPipes) {
      if (forwardedSocketPair.pipeDirection !== pipeDirection) continue;
      for (const action of forwardedSocketPair.bufferedWrites.splice(0)) action();
      forwardedSocketPair.sourceSocket.resume();
    }
  }

  const sockets = () =>
    new Set(
      [...socketPipes].flatMap((forwardedSocketPair) => [
        forwardedSocketPair.sourceSocket,
        forwardedSocketPair.targetSocket,
      ]),
    );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const serverAddress = server.address();
  if (serverAddress === null || typeof serverAddress === 'string') throw new Error('the proxy has no port');
  return {
    port: serverAddress.port,
    get openConnections() {
      return Math.ceil(socketPipes.size / 2);
    },
    get acceptedConnectionCount() {
      return connectionCount;
    },
    forwardedByteCount: bytes,
    stallTraffic(pipeDirection = 'both') {
      if (pipeDirection !== 'down') isStalled.up = true;
      if (pipeDirection !== 'up') isStalled.down = true;
    },
    cut(allowNewConnections = false) {
      isRejectingConnections = !allowNewConnections;
      for (const socket of sockets()) socket.resetAndDestroy();
      socketPipes.clear();
    },
    resume(pipeDirection = 'both') {
      isRejectingConnections = false;
      if (pipeDirection !== 'down') resumeDirection('up');
      if (pipeDirection !== 'up') resumeDirection('down');
    },
    blackholeConnections() {
      for (const socket of sockets()) blackholedSockets.add(socket);
    },
    close() {
      for (const socket of sockets()) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

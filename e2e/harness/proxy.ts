/**
 * A TCP proxy on loopback between a browser and the daemon, which simulates network failures.
 *
 * The method resume forwards the buffered bytes in order, as TCP does. The method cut resets every open connection, and
 * each new connection until resume is called.
 */
import { connect, createServer, type Socket } from 'node:net';

/**
 * Direction is the direction of traffic: "up" from the browser to the daemon, "down" from the daemon to the browser.
 */
export type Direction = 'up' | 'down' | 'both';

export interface Proxy {
  readonly port: number;
  readonly openConnections: number;
  readonly connectionsMade: number;
  readonly forwardedByteCount: { readonly up: number; readonly down: number };
  /** While the proxy stalls, open connections stay open, and new connections receive no bytes. */
  stall(direction?: Direction): void;
  /** Unless allowNew is true, `cut` also resets each new connection until resume is called. */
  cut(allowNew?: boolean): void;
  resume(direction?: Direction): void;
  /**
   * blackholeOpen discards all further bytes of the open connections without closing them, like a lost network route.
   */
  blackholeOpen(): void;
  close(): Promise<void>;
}

interface Pipe {
  readonly direction: 'up' | 'down';
  readonly from: Socket;
  readonly to: Socket;
  readonly buffered: (() => void)[];
}

export async function startProxy(port: number): Promise<Proxy> {
  const pipes = new Set<Pipe>();
  const blackholedSockets = new WeakSet<Socket>();
  const isStalled = { up: false, down: false };
  const bytes = { up: 0, down: 0 };
  let isRefusing = false;
  let connectionCount = 0;
  const server = createServer({ noDelay: true }, (browser) => {
    if (isRefusing) {
      browser.on('error', () => undefined);
      browser.resetAndDestroy();
      return;
    }
    connectionCount++;
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    startPipe({ direction: 'up', from: browser, to: upstream, buffered: [] });
    startPipe({ direction: 'down', from: upstream, to: browser, buffered: [] });
  });

  function startPipe(pipe: Pipe): void {
    const { from: source, to: destination, direction, buffered } = pipe;
    pipes.add(pipe);
    // Node.js emits "end" and "close" even for a paused socket, so the proxy buffers "end" and "close" too.
    const passOrBuffer = (action: () => void) => {
      if (blackholedSockets.has(source)) return;
      if (isStalled[direction]) buffered.push(action);
      else action();
    };
    source.on('data', (chunk) => {
      if (isStalled[direction]) source.pause(); // the kernel buffers the bytes that the proxy does not read
      passOrBuffer(() => {
        bytes[direction] += chunk.length;
        if (!destination.write(chunk)) source.pause();
      });
    });
    destination.on('drain', () => source.resume());
    source.on('end', () => passOrBuffer(() => destination.end()));
    source.on('error', () => undefined); // after an error, the socket also emits close
    source.on('close', (withError) => {
      passOrBuffer(() => {
        pipes.delete(pipe);
        if (withError) destination.resetAndDestroy();
      });
    });
  }

  function resumeDirection(direction: 'up' | 'down'): void {
    isStalled[direction] = false;
    for (const pipe of pipes) {
      if (pipe.direction !== direction) continue;
      for (const action of pipe.buffered.splice(0)) action();
      pipe.from.resume();
    }
  }

  const sockets = () => new Set([...pipes].flatMap((pipe) => [pipe.from, pipe.to]));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    get openConnections() {
      return Math.ceil(pipes.size / 2);
    },
    get connectionsMade() {
      return connectionCount;
    },
    forwardedByteCount: bytes,
    stall(direction = 'both') {
      if (direction !== 'down') isStalled.up = true;
      if (direction !== 'up') isStalled.down = true;
    },
    cut(allowNew = false) {
      isRefusing = !allowNew;
      for (const socket of sockets()) socket.resetAndDestroy();
      pipes.clear();
    },
    resume(direction = 'both') {
      isRefusing = false;
      if (direction !== 'down') resumeDirection('up');
      if (direction !== 'up') resumeDirection('down');
    },
    blackholeOpen() {
      for (const socket of sockets()) blackholedSockets.add(socket);
    },
    close() {
      for (const socket of sockets()) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

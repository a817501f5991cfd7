/**
 * A TCP proxy on loopback between a browser and the server, which breaks the link as networks do.
 *
 * Give its port to the extension (StackOptions.proxy does that) and the server keeps its own. Per direction the proxy can stall: it holds what
 * was sent and tells neither side, so both see a half-open socket; resume sends what it held, in order, as TCP would. cut resets every
 * connection and, until resume, each new one.
 */
import { connect, createServer, type Socket } from 'node:net';

/** Direction is which bytes: up from the browser to the server, down from the server to the browser. */
export type Direction = 'up' | 'down' | 'both';

/** Proxy is a running proxy. */
export interface Proxy {
  readonly port: number;
  /** How many connections are open, stalled ones among them. */
  readonly open: number;
  /** How many connections were made since the start. */
  readonly made: number;
  /** Bytes passed on since the start. */
  readonly bytes: { readonly up: number; readonly down: number };
  /** stall holds what is sent from now on; connections stay open, the ends of sockets are held too, and new ones get no answer. */
  stall(direction?: Direction): void;
  /** cut resets all connections; new ones are reset as well unless again is true. */
  cut(again?: boolean): void;
  /** resume passes on what was held in this direction and takes connections again. */
  resume(direction?: Direction): void;
  /** drop throws away what is sent in this direction from now on and closes nothing, as after a lost route: even resume doesn't bring it back to old connections. */
  drop(): void;
  close(): Promise<void>;
}

/** Way is one direction of one connection, with what came while it was stalled. */
interface Way {
  readonly direction: 'up' | 'down';
  readonly from: Socket;
  readonly to: Socket;
  readonly held: (() => void)[];
}

/** startProxy listens on a free port of loopback and forwards to port; call close when done. */
export async function startProxy(port: number): Promise<Proxy> {
  const ways = new Set<Way>();
  const dropped = new WeakSet<Socket>();
  const stalled = { up: false, down: false };
  const bytes = { up: 0, down: 0 };
  let refusing = false;
  let made = 0;
  const server = createServer({ noDelay: true }, (browser) => {
    if (refusing) {
      browser.on('error', () => undefined);
      browser.resetAndDestroy();
      return;
    }
    made++;
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    forward({ direction: 'up', from: browser, to: upstream, held: [] });
    forward({ direction: 'down', from: upstream, to: browser, held: [] });
  });

  function forward(way: Way): void {
    const { from, to, direction, held } = way;
    ways.add(way);
    // Node tells the end of a paused socket all the same, so ends and closes are held here too.
    const pass = (what: () => void) => {
      if (dropped.has(from)) return;
      if (stalled[direction]) held.push(what);
      else what();
    };
    from.on('data', (chunk) => {
      if (stalled[direction]) from.pause(); // the rest waits in the kernel
      pass(() => {
        bytes[direction] += chunk.length;
        if (!to.write(chunk)) from.pause();
      });
    });
    to.on('drain', () => from.resume());
    from.on('end', () => pass(() => to.end()));
    from.on('error', () => undefined); // close follows
    from.on('close', (withError) => {
      pass(() => {
        ways.delete(way);
        if (withError) to.resetAndDestroy();
      });
    });
  }

  function release(direction: 'up' | 'down'): void {
    stalled[direction] = false;
    for (const way of ways) {
      if (way.direction !== direction) continue;
      for (const what of way.held.splice(0)) what();
      way.from.resume();
    }
  }

  const sockets = () => new Set([...ways].flatMap((way) => [way.from, way.to]));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    get open() {
      return Math.ceil(ways.size / 2);
    },
    get made() {
      return made;
    },
    bytes,
    stall(direction = 'both') {
      if (direction !== 'down') stalled.up = true;
      if (direction !== 'up') stalled.down = true;
    },
    cut(again = false) {
      refusing = !again;
      for (const socket of sockets()) socket.resetAndDestroy();
      ways.clear();
    },
    resume(direction = 'both') {
      refusing = false;
      if (direction !== 'down') release('up');
      if (direction !== 'up') release('down');
    },
    drop() {
      for (const socket of sockets()) dropped.add(socket);
    },
    close() {
      for (const socket of sockets()) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/**
 * Simulates a desktop that shows notifications: the D-Bus service org.freedesktop.Notifications, which Chrome on Linux
 * uses.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BusReader, BusWriter, type ReceivedCall, readCall } from './bus-message.ts';
import { waitFor } from './wait.ts';

export interface DesktopNotification {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  /** A click on the text of a notification sends the action key "default" to Chrome. */
  readonly actions: ReadonlyMap<string, string>;
}

export interface Desktop {
  readonly env: Readonly<Record<string, string>>;
  notifications(): readonly DesktopNotification[];
  /** Chrome changes the action keys with each update of a notification, so `press` sends the latest key. */
  press(notification: DesktopNotification, action: string): void;
  dismiss(notification: DesktopNotification): void;
  close(): Promise<void>;
}

const service = 'org.freedesktop.Notifications';
const servicePath = '/org/freedesktop/Notifications';
/** The constants are reasons in the D-Bus signal NotificationClosed: dismissed by the user, or closed by a program. */
const dismissedReason = 2;
const closedReason = 3;

export async function startDesktop(): Promise<Desktop> {
  const folder = mkdtempSync(join(tmpdir(), 'opentabs-desktop-'));
  const socketPath = join(folder, 'bus');
  const address = `unix:path=${socketPath}`;
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--nopidfile', `--address=${address}`], {
    stdio: 'ignore',
  });
  const socket = await waitFor('the session bus to start', () => tryConnect(socketPath));
  const open = new Map<number, DesktopNotification>();
  let lastId = 0;
  const connection = new BusConnection(socket, (call) => {
    switch (call.member) {
      case 'Notify': {
        const { replacesId, title, body, actions } = readNotify(call.body);
        const id = open.has(replacesId) ? replacesId : ++lastId;
        open.set(id, { id, title, body, actions });
        return new BusWriter('u').uint32(id);
      }
      case 'CloseNotification': {
        const id = call.body.uint32();
        if (open.delete(id)) connection.emit('NotificationClosed', new BusWriter('uu').uint32(id).uint32(closedReason));
        return new BusWriter('');
      }
      case 'GetCapabilities':
        return new BusWriter('as').strings(['actions', 'body', 'persistence']);
      case 'GetServerInformation':
        return ['opentabs-e2e', 'opentabs', '1', '1.2'].reduce((w, text) => w.string(text), new BusWriter('ssss'));
      default:
        return undefined;
    }
  });
  await connection.start();
  const closeByUser = (id: number) => {
    if (open.delete(id)) connection.emit('NotificationClosed', new BusWriter('uu').uint32(id).uint32(dismissedReason));
  };
  return {
    env: { DBUS_SESSION_BUS_ADDRESS: address },
    notifications: () => [...open.values()],
    press({ id }, action) {
      const actions = open.get(id)?.actions ?? new Map<string, string>();
      const key = actions.get(action);
      if (key === undefined) throw new Error(`the notification has no "${action}", only ${[...actions.keys()]}`);
      connection.emit('ActionInvoked', new BusWriter('us').uint32(id).string(key));
      closeByUser(id);
    },
    dismiss: ({ id }) => closeByUser(id),
    async close() {
      socket.destroy();
      await stopBus(bus);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function tryConnect(path: string): Promise<Socket | undefined> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return undefined;
  }
}

async function stopBus(bus: ChildProcess): Promise<void> {
  if (bus.exitCode !== null || bus.signalCode !== null) return;
  bus.kill();
  await once(bus, 'exit');
}

function readNotify(body: BusReader) {
  body.string(); // skip the program's name
  const replacesId = body.uint32();
  body.string(); // skip the icon
  const title = body.string();
  const text = body.string();
  const keysAndTexts = body.strings();
  const actions = new Map<string, string>();
  for (let i = 0; i + 1 < keysAndTexts.length; i += 2) {
    const [key = '', label = ''] = keysAndTexts.slice(i, i + 2);
    actions.set(key === 'default' ? 'default' : label, key);
  }
  return { replacesId, title, body: text, actions };
}

class BusConnection {
  readonly #socket: Socket;
  readonly #answer: (call: ReceivedCall) => BusWriter | undefined;
  #serial = 0;
  #received = Buffer.alloc(0);

  constructor(socket: Socket, answer: (call: ReceivedCall) => BusWriter | undefined) {
    this.#socket = socket;
    this.#answer = answer;
  }

  async start(): Promise<void> {
    const user = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
    this.#socket.write(`\0AUTH EXTERNAL ${user}\r\n`);
    await once(this.#socket, 'data'); // wait for the bus to accept the authentication
    this.#socket.write('BEGIN\r\n');
    this.#socket.on('data', (data) => this.#receive(data));
    const bus = {
      path: '/org/freedesktop/DBus',
      interface: 'org.freedesktop.DBus',
      destination: 'org.freedesktop.DBus',
    };
    this.#send(new BusWriter('').message({ type: 1, serial: ++this.#serial, ...bus, member: 'Hello' }));
    const name = new BusWriter('su').string(service).uint32(0);
    this.#send(name.message({ type: 1, serial: ++this.#serial, ...bus, member: 'RequestName' }));
  }

  emit(member: string, body: BusWriter): void {
    this.#send(body.message({ type: 4, serial: ++this.#serial, path: servicePath, interface: service, member }));
  }

  #receive(data: Buffer): void {
    this.#received = Buffer.concat([this.#received, data]);
    for (;;) {
      const call = readCall(this.#received);
      if (!call) return;
      this.#received = this.#received.subarray(call.length);
      const reply = call.isCall && this.#answer(call);
      if (reply)
        this.#send(
          reply.message({ type: 2, serial: ++this.#serial, replySerial: call.serial, destination: call.sender }),
        );
    }
  }

  #send(message: Buffer): void {
    this.#socket.write(message);
  }
}

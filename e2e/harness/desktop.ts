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

export interface FakeDesktop {
  readonly env: Readonly<Record<string, string>>;
  notifications(): readonly DesktopNotification[];
  /** Chrome changes the action keys with each update of a notification, so `press` sends the latest key. */
  press(notification: DesktopNotification, action: string): void;
  dismiss(notification: DesktopNotification): void;
  close(): Promise<void>;
}

const serviceName = 'org.freedesktop.Notifications';
const servicePath = '/org/freedesktop/Notifications';
/** The constants are reasons in the D-Bus signal NotificationClosed: dismissed by the user, or closed by a program. */
const dismissedByUserReason = 2;
const closedByCallReason = 3;

export async function startDesktop(): Promise<FakeDesktop> {
  const folder = mkdtempSync(join(tmpdir(), 'opentabs-desktop-'));
  const socketPath = join(folder, 'bus');
  const busAddress = `unix:path=${socketPath}`;
  const busProcess = spawn('dbus-daemon', ['--session', '--nofork', '--nopidfile', `--address=${busAddress}`], {
    stdio: 'ignore',
  });
  const socket = await waitFor('the session bus to start', () => tryConnect(socketPath));
  const openNotifications = new Map<number, DesktopNotification>();
  let lastNotificationId = 0;
  const connection = new BusConnection(socket, (call) => {
    switch (call.member) {
      case 'Notify': {
        const { replacesId, title, body: bodyReader, actions } = readNotifyCall(call.bodyReader);
        const id = openNotifications.has(replacesId) ? replacesId : ++lastNotificationId;
        openNotifications.set(id, { id, title, body: bodyReader, actions });
        return new BusWriter('u').uint32(id);
      }
      case 'CloseNotification': {
        const id = call.bodyReader.uint32();
        if (openNotifications.delete(id))
          connection.emitSignal('NotificationClosed', new BusWriter('uu').uint32(id).uint32(closedByCallReason));
        return new BusWriter('');
      }
      case 'GetCapabilities':
        return new BusWriter('as').strings(['actions', 'body', 'persistence']);
      case 'GetServerInformation':
        return ['opentabs-e2e', 'opentabs', '1', '1.2'].reduce(
          (busWriter, stringValue) => busWriter.string(stringValue),
          new BusWriter('ssss'),
        );
      default:
        return undefined;
    }
  });
  await connection.start();
  const dismissByUser = (id: number) => {
    if (openNotifications.delete(id))
      connection.emitSignal('NotificationClosed', new BusWriter('uu').uint32(id).uint32(dismissedByUserReason));
  };
  return {
    env: { DBUS_SESSION_BUS_ADDRESS: busAddress },
    notifications: () => [...openNotifications.values()],
    press({ id }, action) {
      const actions = openNotifications.get(id)?.actions ?? new Map<string, string>();
      const key = actions.get(action);
      if (key === undefined) throw new Error(`the notification has no "${action}", only ${[...actions.keys()]}`);
      connection.emitSignal('ActionInvoked', new BusWriter('us').uint32(id).string(key));
      dismissByUser(id);
    },
    dismiss: ({ id }) => dismissByUser(id),
    async close() {
      socket.destroy();
      await stopBus(busProcess);
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

async function stopBus(busProcess: ChildProcess): Promise<void> {
  if (busProcess.exitCode !== null || busProcess.signalCode !== null) return;
  busProcess.kill();
  await once(busProcess, 'exit');
}

function readNotifyCall(bodyReader: BusReader) {
  bodyReader.string(); // skip the program's name
  const replacedNotificationId = bodyReader.uint32();
  bodyReader.string(); // skip the icon
  const title = bodyReader.string();
  const stringValue = bodyReader.string();
  const actionParts = bodyReader.strings();
  const actions = new Map<string, string>();
  for (let i = 0; i + 1 < actionParts.length; i += 2) {
    const [key = '', label = ''] = actionParts.slice(i, i + 2);
    actions.set(key === 'default' ? 'default' : label, key);
  }
  return { replacesId: replacedNotificationId, title, body: stringValue, actions };
}

class BusConnection {
  readonly #socket: Socket;
  readonly #answer: (call: ReceivedCall) => BusWriter | undefined;
  #serial = 0;
  #received = Buffer.alloc(0);

  constructor(socket: Socket, answerCall: (call: ReceivedCall) => BusWriter | undefined) {
    this.#socket = socket;
    this.#answer = answerCall;
  }

  async start(): Promise<void> {
    const userIdHex = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
    this.#socket.write(`\0AUTH EXTERNAL ${userIdHex}\r\n`);
    await once(this.#socket, 'data'); // wait for the bus to accept the authentication
    this.#socket.write('BEGIN\r\n');
    this.#socket.on('data', (socketData) => this.#receive(socketData));
    const busProcess = {
      path: '/org/freedesktop/DBus',
      interface: 'org.freedesktop.DBus',
      destination: 'org.freedesktop.DBus',
    };
    this.#send(new BusWriter('').message({ type: 1, serialNumber: ++this.#serial, ...busProcess, member: 'Hello' }));
    const name = new BusWriter('su').string(serviceName).uint32(0);
    this.#send(name.message({ type: 1, serialNumber: ++this.#serial, ...busProcess, member: 'RequestName' }));
  }

  emitSignal(signalName: string, bodyReader: BusWriter): void {
    this.#send(
      bodyReader.message({
        type: 4,
        serialNumber: ++this.#serial,
        path: servicePath,
        interface: serviceName,
        member: signalName,
      }),
    );
  }

  #receive(socketData: Buffer): void {
    this.#received = Buffer.concat([this.#received, socketData]);
    for (;;) {
      const call = readCall(this.#received);
      if (!call) return;
      this.#received = this.#received.subarray(call.length);
      const replyBody = call.isCall && this.#answer(call);
      if (replyBody)
        this.#send(
          replyBody.message({
            type: 2,
            serialNumber: ++this.#serial,
            replySerial: call.serialNumber,
            destination: call.sender,
          }),
        );
    }
  }

  #send(messageData: Buffer): void {
    this.#socket.write(messageData);
  }
}

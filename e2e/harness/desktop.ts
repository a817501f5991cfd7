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
import { type DBusReader, DBusWriter, type ReceivedCall, readCall } from './bus-message.ts';
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
  const dbusAddress = `unix:path=${socketPath}`;
  const dbusProcess = spawn('dbus-daemon', ['--session', '--nofork', '--nopidfile', `--address=${dbusAddress}`], {
    stdio: 'ignore',
  });
  const socket = await waitFor('the session bus to start', () => tryConnect(socketPath));
  const openNotifications = new Map<number, DesktopNotification>();
  let lastNotificationId = 0;
  const connection = new DBusConnection(socket, (call) => {
    switch (call.member) {
      case 'Notify': {
        const { replacesId, title, body: bodyReader, actions } = readNotifyCall(call.bodyReader);
        const id = openNotifications.has(replacesId) ? replacesId : ++lastNotificationId;
        openNotifications.set(id, { id, title, body: bodyReader, actions });
        return new DBusWriter('u').writeUint32(id);
      }
      case 'CloseNotification': {
        const id = call.bodyReader.readUint32();
        if (openNotifications.delete(id))
          connection.emitSignal(
            'NotificationClosed',
            new DBusWriter('uu').writeUint32(id).writeUint32(closedByCallReason),
          );
        return new DBusWriter('');
      }
      case 'GetCapabilities':
        return new DBusWriter('as').writeStrings(['actions', 'body', 'persistence']);
      case 'GetServerInformation':
        return ['opentabs-e2e', 'opentabs', '1', '1.2'].reduce(
          (dbusWriter, stringValue) => dbusWriter.writeString(stringValue),
          new DBusWriter('ssss'),
        );
      default:
        return undefined;
    }
  });
  await connection.start();
  const dismissByUser = (id: number) => {
    if (openNotifications.delete(id))
      connection.emitSignal(
        'NotificationClosed',
        new DBusWriter('uu').writeUint32(id).writeUint32(dismissedByUserReason),
      );
  };
  return {
    env: { DBUS_SESSION_BUS_ADDRESS: dbusAddress },
    notifications: () => [...openNotifications.values()],
    press({ id }, action) {
      const actions = openNotifications.get(id)?.actions ?? new Map<string, string>();
      const key = actions.get(action);
      if (key === undefined) throw new Error(`the notification has no "${action}", only ${[...actions.keys()]}`);
      connection.emitSignal('ActionInvoked', new DBusWriter('us').writeUint32(id).writeString(key));
      dismissByUser(id);
    },
    dismiss: ({ id }) => dismissByUser(id),
    async close() {
      socket.destroy();
      await stopBus(dbusProcess);
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

async function stopBus(dbusProcess: ChildProcess): Promise<void> {
  if (dbusProcess.exitCode !== null || dbusProcess.signalCode !== null) return;
  dbusProcess.kill();
  await once(dbusProcess, 'exit');
}

function readNotifyCall(bodyReader: DBusReader) {
  bodyReader.readString(); // skip the program's name
  const replacedNotificationId = bodyReader.readUint32();
  bodyReader.readString(); // skip the icon
  const title = bodyReader.readString();
  const stringValue = bodyReader.readString();
  const actionParts = bodyReader.readStrings();
  const actions = new Map<string, string>();
  for (let i = 0; i + 1 < actionParts.length; i += 2) {
    const [key = '', label = ''] = actionParts.slice(i, i + 2);
    actions.set(key === 'default' ? 'default' : label, key);
  }
  return { replacesId: replacedNotificationId, title, body: stringValue, actions };
}

class DBusConnection {
  readonly #socket: Socket;
  readonly #answer: (call: ReceivedCall) => DBusWriter | undefined;
  #lastSerial = 0;
  #receivedBytes = Buffer.alloc(0);

  constructor(socket: Socket, answerCall: (call: ReceivedCall) => DBusWriter | undefined) {
    this.#socket = socket;
    this.#answer = answerCall;
  }

  async start(): Promise<void> {
    const userIdHex = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
    this.#socket.write(`\0AUTH EXTERNAL ${userIdHex}\r\n`);
    await once(this.#socket, 'data'); // wait for the bus to accept the authentication
    this.#socket.write('BEGIN\r\n');
    this.#socket.on('data', (socketData) => this.#receive(socketData));
    const dbusDestination = {
      path: '/org/freedesktop/DBus',
      interface: 'org.freedesktop.DBus',
      destination: 'org.freedesktop.DBus',
    };
    this.#send(
      new DBusWriter('').message({ type: 1, serialNumber: ++this.#lastSerial, ...dbusDestination, member: 'Hello' }),
    );
    const name = new DBusWriter('su').writeString(serviceName).writeUint32(0);
    this.#send(name.message({ type: 1, serialNumber: ++this.#lastSerial, ...dbusDestination, member: 'RequestName' }));
  }

  emitSignal(signalName: string, bodyReader: DBusWriter): void {
    this.#send(
      bodyReader.message({
        type: 4,
        serialNumber: ++this.#lastSerial,
        path: servicePath,
        interface: serviceName,
        member: signalName,
      }),
    );
  }

  #receive(socketData: Buffer): void {
    this.#receivedBytes = Buffer.concat([this.#receivedBytes, socketData]);
    for (;;) {
      const call = readCall(this.#receivedBytes);
      if (!call) return;
      this.#receivedBytes = this.#receivedBytes.subarray(call.length);
      const replyBody = call.isCall && this.#answer(call);
      if (replyBody)
        this.#send(
          replyBody.message({
            type: 2,
            serialNumber: ++this.#lastSerial,
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

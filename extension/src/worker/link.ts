import {
  type Frame,
  type NotificationFrame,
  notification,
  parseFrame,
  type RequestFrame,
  readResult,
  request,
} from '../../../wire/frame.ts';
import {
  CloseReplaced,
  CloseVersion,
  CodeVersion,
  type HelloResult,
  type NotificationMethod,
  type Notifications,
  type RequestMethod,
  type Requests,
  SilentMs,
  Version,
} from '../../../wire/wire.gen.ts';
import type { Connection, Handshake, Listener } from './handshake.ts';
import type { Identity } from './identity.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** Down says why there is no link. */
export type Down = 'not_installed' | 'no_server' | 'refused' | 'version' | 'replaced' | 'lost';

/** LinkState is what the panel shows of the link. text is the server's own sentence where it gave one. */
export type LinkState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly serverVersion: string }
  | { readonly kind: 'down'; readonly why: Down; readonly text: string };

export interface LinkOptions {
  /** connection is asked before each try, so that a new install is seen. */
  connection(): Promise<Connection | undefined>;
  /** hello is asked before each try. */
  hello(): Promise<Identity>;
  open: OpenSocket;
  /** handshake prepares the handshake of one socket. */
  handshake(connection: Connection): Promise<Handshake>;
  /** listener finds out what listens on the port; called after a socket that could not be opened, and before the next. */
  listener(connection: Connection): Promise<Listener>;
  /** opened is called when hello was answered, before anything else the server sends is handed on. */
  opened(server: HelloResult): void;
  /** lost is called when an open link is gone. */
  lost(): void;
  request(frame: RequestFrame): void;
  notification(frame: NotificationFrame): void;
  changed(state: LinkState): void;
  /** random returns a number from 0 to 1, for jitter. */
  random(): number;
}

/** Times in milliseconds. */
const RetryMs = 600;
const RetryJitterMs = 300;
const SlowRetryMs = 30_000;
/** UnsentBytes is how much of large results may wait in the socket, where everything else waits behind it; DrainMs is about how long it takes to go out. */
const UnsentBytes = 1024 * 1024;
const DrainMs = 4;
/** PrepareMs is how long Chrome may take to tell what a try needs: in a worker that begins while the extension is reloaded it may never. */
const PrepareMs = 3000;
const OpenMs = 5000;
const AnswerMs = 10_000;
/**
 * The pulse beats four times in the silence that ends a link: a ping is sent at the second beat. Silence is counted in
 * beats, not by the clock, which jumps when the machine has slept or the browser was held.
 */
const DeadBeats = 4;
const PingBeats = 2;

/** Pending ends one request of this side; without a frame the link was lost. */
type Pending = (frame: Frame | undefined) => void;

/** Link is the connection to the server. It tries for ever. */
export interface Link {
  readonly state: LinkState;
  /** start makes the first try; later calls make a try at once if there is no link. */
  start(): void;
  /** restart drops the link and makes a new one, for what is told in hello or after it. */
  restart(): void;
  /** send sends a frame; false means that there is no link. */
  send(text: string): boolean;
  /**
   * request asks the server. It rejects while there is no link, when it is lost, when 10 s have passed, and with the
   * server's error.
   */
  request<M extends RequestMethod>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']>;
  notify<M extends NotificationMethod>(method: M, params: Notifications[M]): boolean;
  /** roomIn returns 0 if the socket has passed on most of what it was given; otherwise in how many milliseconds to ask again. */
  roomIn(): number;
}

/** makeLink returns a link that was not started. */
export function makeLink(options: LinkOptions): Link {
  return new ServerLink(options);
}

class ServerLink implements Link {
  readonly #options: LinkOptions;
  readonly #pending = new Map<string, Pending>();
  #state: LinkState = { kind: 'connecting' };
  #socket: Socket | undefined;
  /** #trying is set while a try is being prepared or explained. */
  #trying = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #pulse: ReturnType<typeof setInterval> | undefined;
  /** #silent counts the beats since anything was heard; #unsent is what waited in the socket at the last one. */
  #silent = 0;
  #unsent = 0;
  #requests = 0;
  /** #unopened is set after a socket that could not be opened. */
  #unopened = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get state(): LinkState {
    return this.#state;
  }

  start(): void {
    if (!this.#socket && !(this.#state.kind === 'down' && isSlow(this.#state.why))) void this.#tryOnce();
  }

  restart(): void {
    const old = this.#socket;
    if (old) this.#hangUp();
    old?.close();
    void this.#tryOnce();
  }

  send(text: string): boolean {
    if (this.#state.kind !== 'open' || !this.#socket) return false;
    this.#socket.send(text);
    return true;
  }

  roomIn(): number {
    if (this.#state.kind !== 'open' || !this.#socket) return RetryMs;
    return this.#socket.unsent > UnsentBytes ? DrainMs : 0;
  }

  notify<M extends NotificationMethod>(method: M, params: Notifications[M]): boolean {
    return this.send(notification(method, params));
  }

  request<M extends RequestMethod>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    // Before hello is answered nothing that waits has been sent, so the answer to a ping would confirm too much (outbox.ts).
    const socket = this.#state.kind === 'open' ? this.#socket : undefined;
    return socket ? this.#ask(socket, method, params) : Promise.reject(new Error('there is no link to the server'));
  }

  #ask<M extends RequestMethod>(
    socket: Socket,
    method: M,
    params: Requests[M]['params'],
  ): Promise<Requests[M]['result']> {
    return new Promise((resolve, reject) => {
      const id = `b${++this.#requests}`;
      const late = setTimeout(() => {
        this.#pending.delete(id);
        reject(new Error(`the server did not answer ${method} for ${AnswerMs / 1000} s`));
      }, AnswerMs);
      this.#pending.set(id, (frame) => {
        clearTimeout(late);
        const answer = readAnswer(method, frame);
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      });
      socket.send(request(id, method, params));
    });
  }

  async #tryOnce(): Promise<void> {
    if (this.#trying || this.#socket) return;
    this.#trying = true;
    clearTimeout(this.#retry);
    try {
      const [connection, hello] = await prepared(this.#options);
      if (!connection) return this.#down('not_installed', '', RetryMs);
      if (this.#unopened) {
        const listener = await this.#options.listener(connection);
        if (listener !== 'opentabs') return this.#unreachable(listener, connection);
      }
      this.#dial(connection, hello, await this.#options.handshake(connection));
    } catch (error) {
      this.#down('lost', String(error), RetryMs);
    } finally {
      this.#trying = false;
    }
  }

  #dial(connection: Connection, hello: Identity, handshake: Handshake): void {
    let stage: Stage = 'opening';
    /** ended acts on the end of this socket, whoever hung up. */
    const ended = (code: number, reason: string) => {
      clearTimeout(late);
      if (this.#socket !== mine) return;
      this.#hangUp();
      void this.#explain(code, reason, stage, connection);
    };
    /** refuse hangs up; a server that hangs would let close take its time. */
    const refuse = (code: number, reason: string) => {
      ended(code, reason);
      mine.close();
    };
    const greeted = (server: HelloResult) => {
      clearTimeout(late);
      if (this.#socket !== mine) return;
      if (server.protocol === Version) this.#welcome(server);
      else refuse(CloseVersion, versions(server));
    };
    /** challenged takes the first frame. Nothing that comes before hello is sent is read. */
    const challenged = async (text: string) => {
      const proof = await prove(handshake, text);
      if (this.#socket !== mine) return;
      if (proof === undefined) return refuse(0, '');
      stage = 'proven';
      this.#ask(mine, 'hello', { ...hello, proof }).then(greeted, (error: unknown) => {
        // The server closes the socket after a refusal, but its whole sentence is here already.
        const version = error instanceof RefusedError && error.code === CodeVersion;
        refuse(version ? CloseVersion : 0, error instanceof Error ? error.message : String(error));
      });
    };
    const late = setTimeout(() => refuse(0, 'the server did not answer'), OpenMs);
    const mine = this.#options.open(`ws://127.0.0.1:${connection.port}/ws`, handshake.protocols, {
      opened: () => {
        stage = 'opened';
        if (this.#socket === mine) this.#unopened = false;
      },
      text: (text) => {
        if (this.#socket !== mine) return;
        if (stage === 'proven') return this.#take(text);
        if (stage === 'opened') void challenged(text);
        stage = 'challenged';
      },
      closed: ended,
    });
    this.#socket = mine;
  }

  #welcome(server: HelloResult): void {
    this.#silent = 0;
    this.#unsent = 0;
    this.#pulse = setInterval(() => this.#beat(), SilentMs / DeadBeats);
    this.#become({ kind: 'open', serverVersion: server.serverVersion });
    this.#options.opened(server);
  }

  #beat(): void {
    const unsent = this.#socket?.unsent ?? 0;
    // The answer to a ping waits behind a large result; that the result goes out is a sign of life too.
    this.#silent = unsent < this.#unsent ? 0 : this.#silent + 1;
    this.#unsent = unsent;
    if (this.#silent >= DeadBeats) {
      const dead = this.#socket;
      this.#hangUp();
      dead?.close();
      this.#down('lost', `the server did not answer for ${SilentMs / 1000} s`, 0);
    } else if (this.#silent === PingBeats) {
      this.request('ping', {}).catch(() => undefined);
    }
  }

  #take(text: string): void {
    this.#silent = 0;
    const frame = parseFrame(text);
    switch (frame.kind) {
      case 'request':
        this.#options.request(frame);
        break;
      case 'notification':
        this.#options.notification(frame);
        break;
      case 'invalid':
        console.warn(`opentabs: a frame of the server was refused: ${frame.problem}`);
        if (frame.reply !== undefined) this.#socket?.send(frame.reply);
        break;
      default: {
        const answered = this.#pending.get(frame.id);
        this.#pending.delete(frame.id);
        answered?.(frame);
      }
    }
  }

  /** hangUp forgets the socket and ends everything that waits for its answers. */
  #hangUp(): void {
    const wasOpen = this.#state.kind === 'open';
    this.#socket = undefined;
    clearInterval(this.#pulse);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const answered of pending) answered(undefined);
    if (wasOpen) {
      this.#become({ kind: 'connecting' });
      this.#options.lost();
    }
  }

  /**
   * explain finds out why a socket closed: a browser tells a script neither status nor text of a refused handshake. What a
   * peer says that has proved nothing is not shown.
   */
  async #explain(code: number, reason: string, stage: Stage, connection: Connection): Promise<void> {
    if (stage === 'opened' || stage === 'challenged') return this.#down('refused', taken(connection), RetryMs);
    if (stage === 'proven') {
      if (code === CloseVersion) return this.#down('version', reason, SlowRetryMs);
      if (code === CloseReplaced) return this.#down('replaced', reason, SlowRetryMs);
      return this.#down('lost', reason, RetryMs);
    }
    this.#unopened = true;
    this.#trying = true;
    const listener = await this.#options.listener(connection);
    this.#trying = false;
    if (!this.#socket) this.#unreachable(listener, connection);
  }

  /** #unreachable says why no socket could be opened. */
  #unreachable(listener: Listener, connection: Connection): void {
    if (listener === 'nothing') this.#down('no_server', '', RetryMs);
    else this.#down('refused', taken(connection), RetryMs);
  }

  #down(why: Down, text: string, waitMs: number): void {
    const { state } = this;
    if (state.kind !== 'down' || state.why !== why || state.text !== text) this.#become({ kind: 'down', why, text });
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#tryOnce(), waitMs + this.#options.random() * RetryJitterMs);
  }

  #become(state: LinkState): void {
    this.#state = state;
    this.#options.changed(state);
  }
}

/** Stage is how far a socket has come; only what has proved to be the server is listened to. */
type Stage = 'opening' | 'opened' | 'challenged' | 'proven';

/** taken says that it is not our server that listens. */
function taken({ port }: Connection): string {
  return `Port ${port} is in use by another program or another opentabs installation. No data was sent to it.`;
}

/** prove returns this browser's proof if the first frame is the server's challenge; it never rejects. */
async function prove(handshake: Handshake, text: string): Promise<string | undefined> {
  const frame = parseFrame(text);
  if (frame.kind !== 'notification' || frame.method !== 'challenge') return undefined;
  return handshake.answer(frame.params).catch(() => undefined);
}

/** prepared returns where the server is and who this browser is; it rejects after PrepareMs. */
async function prepared(options: LinkOptions): Promise<[Connection | undefined, Identity]> {
  let late: ReturnType<typeof setTimeout> | undefined;
  const never = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error(`the browser did not answer for ${PrepareMs / 1000} s`)), PrepareMs);
  });
  try {
    return await Promise.race([Promise.all([options.connection(), options.hello()]), never]);
  } finally {
    clearTimeout(late);
  }
}

/** readAnswer returns the result in an answer, or why there is none; no frame means that the link was lost. */
function readAnswer<M extends RequestMethod>(method: M, frame: Frame | undefined): Requests[M]['result'] | Error {
  if (frame?.kind === 'error') return new RefusedError(frame.error.code, frame.error.message);
  if (frame?.kind !== 'result') return new Error('the link to the server was lost');
  const result = readResult(method, frame.result);
  return result.ok ? result.value : new Error(`the server's answer to ${method} can't be read: ${result.problem}`);
}

/** RefusedError is the server's error answer to a request. */
export class RefusedError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'RefusedError';
    this.code = code;
  }
}

/** versions says which side to update. */
function versions(server: HelloResult): string {
  const both = `this extension speaks protocol ${Version}, the server (${server.serverVersion}) protocol ${server.protocol}`;
  return server.protocol > Version
    ? `${both}: update the extension with "opentabs extension install" and reload it`
    : `${both}: update the opentabs program`;
}

/** isSlow tells which faults no further try can mend soon. */
function isSlow(why: Down): boolean {
  return why === 'version' || why === 'replaced';
}

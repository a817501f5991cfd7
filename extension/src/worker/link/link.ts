import {
  checkResult,
  encodeNotification,
  encodeRequest,
  type Frame,
  type NotificationFrame,
  parseFrame,
  type RequestFrame,
} from '../../../../wire/frame.ts';
import {
  CloseReplaced,
  CloseVersion,
  CodeVersion,
  type HelloResult,
  MaxSilenceMs,
  type Notifications,
  type RequestMethod,
  type Requests,
  Version,
} from '../../../../wire/wire.gen.ts';
import { Signal } from '../signal.ts';
import type { BrowserNotification, BrowserRequest } from './handlers.ts';
import type { Connection, Handshake, Listener } from './handshake.ts';
import type { Identity } from './identity.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** Down is why there is no link. */
export type Down = 'not_installed' | 'no_server' | 'refused' | 'version' | 'replaced' | 'lost';

/**
 * LinkState is the state of the link for the panel. text is the server's explanation, if the server sent an
 * explanation.
 */
export type LinkState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly serverVersion: string }
  | { readonly kind: 'down'; readonly why: Down; readonly text: string };

export interface LinkOptions {
  /**
   * connection reads the server's port and key. connection is called before each try, so that a new installation is
   * detected.
   */
  connection(): Promise<Connection | undefined>;
  /** hello returns the identity of this browser. The link calls hello before each try. */
  hello(): Promise<Identity>;
  open: OpenSocket;
  /** handshake prepares the handshake of one socket. */
  handshake(connection: Connection): Promise<Handshake>;
  /**
   * listener finds out what listens on the port. listener is called after a socket failed to open, and before the next
   * try.
   */
  listener(connection: Connection): Promise<Listener>;
  /** random returns a number from 0 to 1, for jitter. */
  random(): number;
}

/** Times in milliseconds. */
const RetryMs = 600;
const RetryJitterMs = 300;
const SlowRetryMs = 30_000;
/**
 * UnsentBytes limits the unsent bytes of large results in the socket, because other frames queue behind these bytes.
 * DrainMs is roughly how long these bytes take to send.
 */
const UnsentBytes = 1024 * 1024;
const DrainMs = 4;
/**
 * PrepareMs is how long Chrome may take to return the data for a try. In a worker that starts during an extension
 * reload, Chrome may never return this data.
 */
const PrepareMs = 3000;
const OpenMs = 5000;
const AnswerMs = 10_000;
/**
 * The link ends after DeadBeats beats of the pulse without a message, and sends a ping after PingBeats beats. Beats are
 * counted instead of time, because the clock jumps when the machine sleeps or the browser is suspended.
 */
const DeadBeats = 4;
const PingBeats = 2;

/** Pending ends one request of the browser. If no frame is passed, the link was lost. */
type Pending = (frame: Frame | undefined) => void;

/** Link is the connection to the server. The link retries without a limit. */
export class Link {
  /** opened reports that the server has answered hello, before other frames are handled. */
  readonly opened = new Signal();
  /** lost reports that an open link was lost. */
  readonly lost = new Signal();
  /** received reports a frame of the server, except answers. */
  readonly received = new Signal<[frame: RequestFrame | NotificationFrame]>();
  /** changed is fired when the state of the link has changed. */
  readonly changed = new Signal();
  readonly #options: LinkOptions;
  readonly #pending = new Map<string, Pending>();
  #state: LinkState = { kind: 'connecting' };
  #socket: Socket | undefined;
  /** #trying is set while a try is being prepared, or while the failure of a try is being explained. */
  #trying = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #pulse: ReturnType<typeof setInterval> | undefined;
  /** #silent counts the beats since the last message. #unsent is the number of unsent bytes at the last beat. */
  #silent = 0;
  #unsent = 0;
  #requests = 0;
  /** #unopened is set after a socket failed to open. */
  #unopened = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** start makes the first try to open the link. A later call of start retries at once if there is no link. */
  start(): void {
    if (!this.#socket && !(this.#state.kind === 'down' && isSlow(this.#state.why))) void this.#tryOnce();
  }

  /** restart closes the link and opens a new link, to apply changes that are sent with or after hello. */
  restart(): void {
    const old = this.#socket;
    if (old) this.#hangUp();
    old?.close();
    void this.#tryOnce();
  }

  /** send sends a frame. Without a link, send returns false. */
  send(text: string): boolean {
    if (this.#state.kind !== 'open' || !this.#socket) return false;
    this.#socket.send(text);
    return true;
  }

  /**
   * roomIn returns 0 if the socket has sent most of its data. Otherwise, roomIn returns in how many milliseconds to
   * check again.
   */
  roomIn(): number {
    if (this.#state.kind !== 'open' || !this.#socket) return RetryMs;
    return this.#socket.unsent > UnsentBytes ? DrainMs : 0;
  }

  notify<M extends BrowserNotification>(method: M, params: Notifications[M]): boolean {
    return this.send(encodeNotification(method, params));
  }

  /**
   * request sends a request to the server. request rejects if there is no link, when the link is lost, after 10 s, and
   * with the server's error.
   */
  request<M extends BrowserRequest>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    // Before hello is answered, queued frames have not been sent, so a ping's answer would confirm too much
    // (calls/outbox.ts).
    const socket = this.#state.kind === 'open' ? this.#socket : undefined;
    return socket ? this.#ask(socket, method, params) : Promise.reject(new Error('there is no link to the server'));
  }

  #ask<M extends BrowserRequest>(
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
      socket.send(encodeRequest(id, method, params));
    });
  }

  async #tryOnce(): Promise<void> {
    if (this.#trying || this.#socket) return;
    this.#trying = true;
    clearTimeout(this.#retry);
    try {
      const [connection, hello] = await prepareTry(this.#options);
      if (!connection) return this.#goDown('not_installed', '', RetryMs);
      if (this.#unopened) {
        const listener = await this.#options.listener(connection);
        if (listener !== 'opentabs') return this.#unreachable(listener, connection);
      }
      this.#dial(connection, hello, await this.#options.handshake(connection));
    } catch (error) {
      this.#goDown('lost', String(error), RetryMs);
    } finally {
      this.#trying = false;
    }
  }

  #dial(connection: Connection, hello: Identity, handshake: Handshake): void {
    let stage: Stage = 'opening';
    /** ended handles the end of this socket, whichever side closed it. */
    const ended = (code: number, reason: string) => {
      clearTimeout(late);
      if (this.#socket !== mine) return;
      this.#hangUp();
      void this.#explain(code, reason, stage, connection);
    };
    /** refuse drops the socket first, because close is slow if the server hangs. */
    const refuse = (code: number, reason: string) => {
      ended(code, reason);
      mine.close();
    };
    const greeted = (server: HelloResult) => {
      clearTimeout(late);
      if (this.#socket !== mine) return;
      if (server.protocol === Version) this.#welcome(server);
      else refuse(CloseVersion, versionMismatch(server));
    };
    /** challenged handles the first frame. Before hello is sent, the browser reads no other frame. */
    const challenged = async (text: string) => {
      const proof = await proveIdentity(handshake, text);
      if (this.#socket !== mine) return;
      if (proof === undefined) return refuse(0, '');
      stage = 'proven';
      this.#ask(mine, 'hello', { ...hello, proof }).then(greeted, (error: unknown) => {
        // The server closes the socket after a refusal, but the error of the answer already contains the full message.
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
        if (stage === 'proven') return this.#receive(text);
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
    this.#pulse = setInterval(() => this.#beat(), MaxSilenceMs / DeadBeats);
    this.#setState({ kind: 'open', serverVersion: server.serverVersion });
    this.opened.emit();
  }

  #beat(): void {
    const unsent = this.#socket?.unsent ?? 0;
    // The answer to a ping queues behind a large result. Progress in sending the result also proves that the link is
    // alive.
    this.#silent = unsent < this.#unsent ? 0 : this.#silent + 1;
    this.#unsent = unsent;
    if (this.#silent >= DeadBeats) {
      const dead = this.#socket;
      this.#hangUp();
      dead?.close();
      this.#goDown('lost', `the server did not answer for ${MaxSilenceMs / 1000} s`, 0);
    } else if (this.#silent === PingBeats) {
      this.request('ping', {}).catch(() => undefined);
    }
  }

  #receive(text: string): void {
    this.#silent = 0;
    const frame = parseFrame(text);
    switch (frame.kind) {
      case 'request':
      case 'notification':
        this.received.emit(frame);
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

  /** hangUp drops the socket and ends its pending requests. */
  #hangUp(): void {
    const wasOpen = this.#state.kind === 'open';
    this.#socket = undefined;
    clearInterval(this.#pulse);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const answered of pending) answered(undefined);
    if (wasOpen) {
      this.#setState({ kind: 'connecting' });
      this.lost.emit();
    }
  }

  /**
   * explain finds out why a socket closed. Browsers expose neither the status nor the text of a refused handshake. The
   * panel shows no text of an unauthenticated peer.
   */
  async #explain(code: number, reason: string, stage: Stage, connection: Connection): Promise<void> {
    if (stage === 'opened' || stage === 'challenged') return this.#goDown('refused', portInUse(connection), RetryMs);
    if (stage === 'proven') {
      if (code === CloseVersion) return this.#goDown('version', reason, SlowRetryMs);
      if (code === CloseReplaced) return this.#goDown('replaced', reason, SlowRetryMs);
      return this.#goDown('lost', reason, RetryMs);
    }
    this.#unopened = true;
    this.#trying = true;
    const listener = await this.#options.listener(connection);
    this.#trying = false;
    if (!this.#socket) this.#unreachable(listener, connection);
  }

  /** #unreachable reports why no socket could be opened. */
  #unreachable(listener: Listener, connection: Connection): void {
    if (listener === 'nothing') this.#goDown('no_server', '', RetryMs);
    else this.#goDown('refused', portInUse(connection), RetryMs);
  }

  #goDown(why: Down, text: string, waitMs: number): void {
    const { state } = this;
    if (state.kind !== 'down' || state.why !== why || state.text !== text) this.#setState({ kind: 'down', why, text });
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#tryOnce(), waitMs + this.#options.random() * RetryJitterMs);
  }

  #setState(state: LinkState): void {
    this.#state = state;
    this.changed.emit();
  }
}

/**
 * Stage is the progress of a socket. Frames are handled only in the last stage, when the server has proved its
 * identity.
 */
type Stage = 'opening' | 'opened' | 'challenged' | 'proven';

/** portInUse is the error for a peer that is not the server of this installation. */
function portInUse({ port }: Connection): string {
  return `Port ${port} is in use by another program or another opentabs installation. No data was sent to it.`;
}

/**
 * proveIdentity returns this browser's proof if the first frame is the server's challenge. proveIdentity never rejects.
 */
async function proveIdentity(handshake: Handshake, text: string): Promise<string | undefined> {
  const frame = parseFrame(text);
  if (frame.kind !== 'notification' || frame.method !== 'challenge') return undefined;
  return handshake.answer(frame.params).catch(() => undefined);
}

/** prepareTry returns the server's address and the identity of this browser. prepareTry rejects after PrepareMs. */
async function prepareTry(options: LinkOptions): Promise<[Connection | undefined, Identity]> {
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

/** readAnswer returns the result in an answer, or an error. If frame is undefined, the link was lost. */
function readAnswer<M extends RequestMethod>(method: M, frame: Frame | undefined): Requests[M]['result'] | Error {
  if (frame?.kind === 'error') return new RefusedError(frame.error.code, frame.error.message);
  if (frame?.kind !== 'result') return new Error('the link to the server was lost');
  const result = checkResult(method, frame.result);
  return result.ok ? result.value : new Error(`the server's answer to ${method} can't be read: ${result.problem}`);
}

/** RefusedError is the server's error answer to a request. */
class RefusedError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'RefusedError';
    this.code = code;
  }
}

/** versionMismatch explains which side to update. */
function versionMismatch(server: HelloResult): string {
  const both = `this extension speaks protocol ${Version}, the server (${server.serverVersion}) protocol ${server.protocol}`;
  return server.protocol > Version
    ? `${both}: update the extension with "opentabs extension install" and reload it`
    : `${both}: update the opentabs program`;
}

/** isSlow reports whether a failure cannot be fixed by retrying soon. */
function isSlow(why: Down): boolean {
  return why === 'version' || why === 'replaced';
}

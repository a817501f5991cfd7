import { encodeError, encodeResult, type NotificationFrame, type RequestFrame } from '../../../../wire/frame.ts';
import {
  CodeInternal,
  CodeMethodNotFound,
  type NotificationMethod,
  type Notifications,
  type RequestMethod,
  type Requests,
} from '../../../../wire/wire.gen.ts';

/** BrowserRequest lists the request methods that the extension sends to the server. */
export type BrowserRequest =
  | 'hello'
  | 'ping'
  | 'plugin.fetch'
  | 'call.cancel'
  | 'call.decide'
  | 'call.repeat'
  | 'call.inspect'
  | 'call.undo'
  | 'calls.history'
  | 'config.permission'
  | 'config.review'
  | 'plugin.inspect'
  | 'plugin.page'
  | 'plugin.install'
  | 'plugin.update'
  | 'plugin.remove'
  | 'config.settings'
  | 'config.opening'
  | 'config.calls'
  | 'config.lateAccess'
  | 'config.browserTools'
  | 'config.site'
  | 'tab.release';

/** BrowserNotification lists the notification methods that the extension sends to the server. */
export type BrowserNotification =
  | 'tool.progress'
  | 'tool.part'
  | 'tool.ask'
  | 'call.resumed'
  | 'tab.sync'
  | 'tab.changed'
  | 'tab.userInput'
  | 'session.used'
  | 'plugin.log'
  | 'state.watch';

/**
 * ServerRequest lists the request methods that the server sends to the extension. The types BrowserRequest and
 * ServerRequest both contain the method ping, because the server and the extension send ping to each other.
 */
type ServerRequest = Exclude<RequestMethod, BrowserRequest> | 'ping';
/** ServerNotification excludes the notification "challenge", because the handshake itself handles the challenge. */
type ServerNotification = Exclude<NotificationMethod, BrowserNotification | 'challenge'>;

/**
 * If a handler for one of the server's requests is missing, TypeScript reports a compile error. A handler that returns
 * undefined sends the response itself later.
 */
export type RequestHandlers = {
  readonly [M in ServerRequest]: (params: Requests[M]['params']) => Promise<Requests[M]['result'] | undefined>;
};
export type NotificationHandlers = { readonly [M in ServerNotification]: (params: Notifications[M]) => void };

/** answerRequest runs the handler of a request and sends the response, and returns a promise that never rejects. */
export async function answerRequest(
  handlers: RequestHandlers,
  frame: RequestFrame,
  sendFrame: (text: string) => void,
): Promise<void> {
  if (!hasRequestHandler(handlers, frame)) {
    const message = `the browser does not answer ${frame.method}`;
    sendFrame(encodeError(frame.id, { code: CodeMethodNotFound, message }));
    return;
  }
  try {
    const result = await callRequestHandler(handlers, frame.method, frame.params);
    if (result !== undefined) sendFrame(encodeResult(frame.id, frame.method, result));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.warn(`opentabs: ${frame.method} failed: ${message}`);
    sendFrame(encodeError(frame.id, { code: CodeInternal, message }));
  }
}

export function handleNotification(handlers: NotificationHandlers, frame: NotificationFrame): void {
  if (hasNotificationHandler(handlers, frame)) callNotificationHandler(handlers, frame.method, frame.params);
}

function callRequestHandler<M extends ServerRequest>(
  handlers: RequestHandlers,
  method: M,
  params: Requests[M]['params'],
): Promise<Requests[M]['result'] | undefined> {
  return handlers[method](params);
}

function callNotificationHandler<M extends ServerNotification>(
  handlers: NotificationHandlers,
  method: M,
  params: Notifications[M],
): void {
  handlers[method](params);
}

function hasRequestHandler(handlers: RequestHandlers, frame: RequestFrame): frame is RequestFrame<ServerRequest> {
  return Object.hasOwn(handlers, frame.method);
}

function hasNotificationHandler(
  handlers: NotificationHandlers,
  frame: NotificationFrame,
): frame is NotificationFrame<ServerNotification> {
  return Object.hasOwn(handlers, frame.method);
}

import { encodeError, encodeResult, type RequestFrame } from '../../../wire/frame.ts';
import { CodeInternal, CodeMethodNotFound, type Requests } from '../../../wire/wire.gen.ts';

/** ServerMethods are the requests that the server may send to this browser. The socket reaches nothing else. */
export const ServerMethods = [
  'ping',
  'tool.dispatch',
  'tool.cancel',
  'tool.answer',
  'plugin.sync',
  'plugin.code',
  'plugin.settings',
  'tab.load',
  'tab.open',
] as const;
export type ServerMethod = (typeof ServerMethods)[number];

/** Handlers answer the requests of the server. A handler that returns undefined answers later by itself. */
export type Handlers = {
  readonly [M in ServerMethod]: (params: Requests[M]['params']) => Promise<Requests[M]['result'] | undefined>;
};

/** serve runs the handler of a request and sends the answer. It never rejects. */
export async function serve(handlers: Handlers, frame: RequestFrame, send: (text: string) => void): Promise<void> {
  if (!isServed(frame)) {
    const message = `the browser does not answer ${frame.method}`;
    send(encodeError(frame.id, { code: CodeMethodNotFound, message }));
    return;
  }
  try {
    const result = await handle(handlers, frame.method, frame.params);
    if (result !== undefined) send(encodeResult(frame.id, frame.method, result));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.warn(`opentabs: ${frame.method} failed: ${message}`);
    send(encodeError(frame.id, { code: CodeInternal, message }));
  }
}

function handle<M extends ServerMethod>(
  handlers: Handlers,
  method: M,
  params: Requests[M]['params'],
): Promise<Requests[M]['result'] | undefined> {
  return handlers[method](params);
}

function isServed(frame: RequestFrame): frame is RequestFrame<ServerMethod> {
  return ServerMethods.some((method) => method === frame.method);
}

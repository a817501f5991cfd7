/** A minimal client for the Chrome DevTools Protocol, for tests that a permanently attached debugger would change. */
import { WebSocket } from 'ws';
import { waitFor } from './wait.ts';

export interface CdpTarget {
  readonly targetId: string;
  readonly type: string;
  readonly url: string;
}

/** CdpSession sends DevTools commands to one target; `Object(answer).x` reads a field x without a type error. */
export interface CdpSession {
  sendCommand(method: string, params?: object): Promise<unknown>;
  evaluate(expression: string): Promise<unknown>;
  on(event: string, listener: (params: unknown) => void): void;
  detach(): Promise<void>;
}

export interface Cdp {
  sendCommand(method: string, params?: object): Promise<unknown>;
  targets(): Promise<readonly CdpTarget[]>;
  attach(targetId: string): Promise<CdpSession>;
  close(): void;
}

interface PendingRequest {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** commandTimeoutMs is long because a suspended or busy page responds late to DevTools commands. */
const commandTimeoutMs = 30_000;

export async function connectCdp(port: number): Promise<Cdp> {
  const url = await waitFor('Chrome to open its debugging port', async () => {
    const browserVersionInfo: unknown = await (await fetch(`http://127.0.0.1:${port}/json/version`)).json();
    return String(Object(browserVersionInfo).webSocketDebuggerUrl);
  });
  const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 1 << 30 });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', reject);
  });
  const pendingRequests = new Map<number, PendingRequest>();
  const listeners = new Map<string, (params: unknown) => void>();
  let lastCommandId = 0;
  socket.on('message', (messageData) => {
    const cdpMessage = Object(JSON.parse(String(messageData)));
    if (cdpMessage.method) listeners.get(`${cdpMessage.sessionId} ${cdpMessage.method}`)?.(cdpMessage.params);
    const pendingRequest = pendingRequests.get(cdpMessage.id);
    if (!pendingRequest) return;
    pendingRequests.delete(cdpMessage.id);
    if (cdpMessage.error) pendingRequest.reject(new Error(String(cdpMessage.error.message)));
    else pendingRequest.resolve(cdpMessage.result);
  });
  socket.on('error', () => undefined); // after an error, the socket also emits close
  socket.on('close', () => {
    for (const pendingRequest of pendingRequests.values()) pendingRequest.reject(new Error('the browser is gone'));
    pendingRequests.clear();
  });
  const sendCommand = (method: string, params: object = {}, sessionId?: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (socket.readyState !== WebSocket.OPEN) {
        reject(new Error('the browser is gone'));
        return;
      }
      const id = ++lastCommandId;
      const timer = setTimeout(() => {
        pendingRequests.delete(id);
        reject(new Error(`no answer to ${method} within ${commandTimeoutMs} ms`));
      }, commandTimeoutMs);
      pendingRequests.set(id, {
        resolve(value) {
          clearTimeout(timer);
          resolve(value);
        },
        reject(error) {
          clearTimeout(timer);
          reject(error);
        },
      });
      socket.send(JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) }));
    });
  return {
    sendCommand,
    async targets() {
      const targetList: unknown = Object(await sendCommand('Target.getTargets')).targetInfos;
      return Array.isArray(targetList) ? targetList : [];
    },
    async attach(targetId) {
      const sessionId = String(
        Object(await sendCommand('Target.attachToTarget', { targetId, flatten: true })).sessionId,
      );
      return {
        sendCommand: (method, params) => sendCommand(method, params, sessionId),
        async evaluate(expression) {
          const params = { expression, awaitPromise: true, returnByValue: true };
          const { result, exceptionDetails } = Object(await sendCommand('Runtime.evaluate', params, sessionId));
          if (exceptionDetails)
            throw new Error(String(exceptionDetails.exception?.description ?? exceptionDetails.text));
          return result.value;
        },
        on(event, listener) {
          listeners.set(`${sessionId} ${event}`, listener);
        },
        async detach() {
          for (const key of [...listeners.keys()]) if (key.startsWith(`${sessionId} `)) listeners.delete(key);
          await sendCommand('Target.detachFromTarget', { sessionId }).catch(() => undefined);
        },
      };
    },
    close() {
      socket.close();
    },
  };
}

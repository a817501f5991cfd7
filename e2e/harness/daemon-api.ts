/** Calls the daemon's HTTP API with an administrator token. */
import { runChecked } from './process.ts';
import { waitFor } from './wait.ts';

/** Server identifies a running daemon: its port on loopback and a token for its HTTP API. */
export interface Server {
  readonly port: number;
  readonly token: string;
}

/** CallRecord is a call in the responses of GET /calls and GET /calls/{id}, with only the fields that tests read. */
export interface CallRecord {
  readonly call_id: string;
  readonly tool_name: string;
  readonly status: string;
  readonly message?: string;
  readonly parent_call_id?: string;
  readonly depth?: number;
  readonly reports: number;
  readonly invalid_reports?: number;
  readonly tab_id?: number;
  readonly error_code?: string;
  readonly cancel_reason?: string;
  readonly stopped?: string;
  readonly end_audience?: string;
  readonly waiting?: { readonly ticket_id: string; readonly kind: string; readonly reason: string };
  readonly activities?: readonly {
    readonly type: string;
    readonly content: unknown;
    readonly audience?: string;
    readonly dropped?: number;
  }[];
}

/** getJson sends a GET request to the daemon and returns the parsed JSON body. */
export async function getJson(server: Server, path: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { authorization: `Bearer ${server.token}` },
    signal: AbortSignal.timeout(60_000),
  });
  return await response.json();
}

/** fetchCallRecords returns all calls that the daemon lists, newest first. */
export async function fetchCallRecords(server: Server): Promise<readonly CallRecord[]> {
  const list = await getJson(server, '/calls');
  const calls = typeof list === 'object' && list !== null && 'calls' in list ? list.calls : [];
  return Array.isArray(calls) ? calls.filter(isCallRecord) : [];
}

/** fetchCallRecord returns the call with the given ID, including the call's activities. */
export async function fetchCallRecord(server: Server, id: string): Promise<CallRecord> {
  const call = await getJson(server, `/calls/${id}`);
  if (!isCallRecord(call)) throw new Error(`no record of ${id}: ${JSON.stringify(call)}`);
  return call;
}

/**
 * findCall waits until matches accepts a call of the tool, and returns that call. tool is a full name such as
 * plugin__tool.
 */
export async function findCall(
  server: Server,
  tool: string,
  matches: (call: CallRecord) => boolean = () => true,
): Promise<CallRecord> {
  return await waitFor(`a call of ${tool}`, async () =>
    (await fetchCallRecords(server)).find((call) => call.tool_name === tool && matches(call)),
  );
}

function isCallRecord(value: unknown): value is CallRecord {
  return typeof value === 'object' && value !== null && 'call_id' in value;
}

/** decideCall approves or denies a call that is waiting for approval, and returns the daemon's JSON response. */
export async function decideCall(server: Server, id: string, decision: Record<string, unknown>): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${server.port}/calls/${id}/decide`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(decision),
  });
  return await response.json();
}

/** addClient registers an MCP client with `opentabs client add` and returns the new client token. */
export async function addClient(env: Readonly<Record<string, string>>, name: string): Promise<string> {
  const client: unknown = JSON.parse(await runChecked(['client', 'add', name, '--json'], env));
  return String(Object(client).token);
}

/** Calls the daemon's HTTP API with an administrator token. */
import { runOrThrow } from './process.ts';
import { waitFor } from './wait.ts';

export interface DaemonAddress {
  readonly port: number;
  readonly token: string;
}

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

export async function getJson(server: DaemonAddress, path: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { authorization: `Bearer ${server.token}` },
    signal: AbortSignal.timeout(60_000),
  });
  return await response.json();
}

export async function fetchCallRecords(server: DaemonAddress): Promise<readonly CallRecord[]> {
  const callList = await getJson(server, '/calls');
  const calls = typeof callList === 'object' && callList !== null && 'calls' in callList ? callList.calls : [];
  return Array.isArray(calls) ? calls.filter(isCallRecord) : [];
}

export async function fetchCallRecord(server: DaemonAddress, id: string): Promise<CallRecord> {
  const call = await getJson(server, `/calls/${id}`);
  if (!isCallRecord(call)) throw new Error(`no record of ${id}: ${JSON.stringify(call)}`);
  return call;
}

export async function findCall(
  server: DaemonAddress,
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

export async function decideCall(
  server: DaemonAddress,
  id: string,
  decision: Record<string, unknown>,
): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${server.port}/calls/${id}/decide`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(decision),
  });
  return await response.json();
}

export async function addClient(env: Readonly<Record<string, string>>, name: string): Promise<string> {
  const client: unknown = JSON.parse(await runOrThrow(['client', 'add', name, '--json'], env));
  return String(Object(client).token);
}

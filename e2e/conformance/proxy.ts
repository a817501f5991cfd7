/**
 * An HTTP proxy between the MCP conformance suite and opentabs. The conformance proxy adds the token, adapts tool names
 * and resource URIs, and changes no other data.
 */
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isRecord } from './verdicts.ts';

const pluginPrefix = 'conformance__';

/**
 * The conformance proxy replaces each resource URI of the suite with callsUri, because opentabs lacks these resources.
 */
const suiteResourceUris: readonly unknown[] = ['test://static-text', 'test://watched-resource'];
const callsUri = 'opentabs://calls';

export interface ProxyOptions {
  readonly port: number;
  readonly token: string;
  /** changeToolLists changes the lists of tools and prompts, which a plugin's tool cannot change. */
  changeToolLists(): Promise<void>;
}

export interface Proxy {
  readonly url: string;
  close(): Promise<void>;
}

export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const server = createServer((request, response) => {
    forwardRequest(options, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${readPort(server.address())}/mcp`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function readPort(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return address.port;
}

async function forwardRequest(
  options: ProxyOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const requestText = Buffer.concat(chunks).toString();
  const requestMessage = parseObject(requestText);
  const params = isRecord(requestMessage?.params) ? requestMessage.params : undefined;
  const call = requestMessage?.method === 'tools/call' || requestMessage?.method === 'prompts/get' ? params : undefined;
  if (call?.name === 'test_trigger_tool_change' || call?.name === 'test_trigger_prompt_change') {
    await options.changeToolLists();
    response.setHeader('content-type', 'application/json');
    const result = { content: [{ type: 'text', text: 'changed' }], resultType: 'complete' };
    response.end(JSON.stringify({ jsonrpc: '2.0', id: requestMessage?.id, result }));
    return;
  }
  const hasSuiteUri = suiteResourceUris.includes(params?.uri);
  const changedParams = {
    ...(typeof call?.name === 'string' ? { name: pluginPrefix + call.name } : {}),
    ...(hasSuiteUri ? { uri: callsUri } : {}),
  };
  const responseBody =
    Object.keys(changedParams).length > 0
      ? JSON.stringify({ ...requestMessage, params: { ...params, ...changedParams } })
      : requestText;
  const headers = request.rawHeaders.flatMap((value, i, rawHeaders) => {
    if (i % 2 === 1) return [];
    const name = value.toLowerCase();
    const headerValue = rawHeaders[i + 1] ?? '';
    if (name === 'content-length' || name === 'connection') return [];
    if (name !== 'mcp-name') return [value, headerValue];
    return [value, call ? addPluginPrefix(headerValue) : hasSuiteUri ? callsUri : headerValue];
  });
  headers.push('Authorization', `Bearer ${options.token}`, 'Content-Length', String(Buffer.byteLength(responseBody)));
  const serverRequest = sendRequest({
    port: options.port,
    host: '127.0.0.1',
    path: request.url,
    method: request.method,
    headers,
  });
  response.on('close', () => serverRequest.destroy());
  serverRequest.on('response', (serverResponse) => {
    const { 'content-length': _, ...otherHeaders } = serverResponse.headers;
    response.writeHead(serverResponse.statusCode ?? 502, otherHeaders);
    response.flushHeaders();
    // The daemon writes the short list of tools in one chunk, so no tool name is split between two chunks.
    const removePrefix = (chunk: unknown) =>
      requestMessage?.method === 'tools/list' || requestMessage?.method === 'prompts/list'
        ? String(chunk).replaceAll(`"${pluginPrefix}`, '"')
        : chunk;
    serverResponse.on('data', (chunk) => response.write(removePrefix(chunk)));
    serverResponse.on('end', () => response.end());
    serverResponse.on('error', () => response.destroy());
  });
  serverRequest.on('error', () => response.destroy());
  serverRequest.end(responseBody);
}

function addPluginPrefix(name: string): string {
  const encodedName = /^=\?base64\?(.*)\?=$/.exec(name.trim());
  if (!encodedName) return pluginPrefix + name.trim();
  const decodedName = Buffer.from(encodedName[1] ?? '', 'base64').toString();
  return `=?base64?${Buffer.from(pluginPrefix + decodedName).toString('base64')}?=`;
}

function parseObject(requestText: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(requestText);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Provides sample calls that have ended, in the format in which the daemon sends calls to the side panel. */
import type { CallInspectResult, CallView } from '../../wire/wire.gen.ts';
import { makeCall } from './sample-views.ts';

/** The side panel shows the time of a call without the date if the call ended today. */
const todayNoonMs = new Date().setHours(12, 0, 0, 0);

const clients = ['Claude Code', 'Cursor', 'Claude Desktop'];
const sites = ['chat.example.com', 'calendar.example.com', 'localhost:8080'];

export function makeEndedCall(callId: string, callOverrides: Partial<CallView> = {}): CallView {
  return makeCall(callId, {
    tool: 'post',
    status: 'done',
    createdMs: todayNoonMs,
    site: 'chat.example.com',
    args: '{"channelId":"general","text":"The release is out."}',
    runMs: 812,
    endAudience: 'user',
    result: 'Sent to 3 members.',
    ...callOverrides,
  });
}

export function makeFailedCall(callId: string, callOverrides: Partial<CallView> = {}): CallView {
  const { endAudience: _audience, result: _result, ...call } = makeEndedCall(callId);
  return { ...call, status: 'failed', error: 'Channel not found', errorCode: 'tool_error', ...callOverrides };
}

/** makeEndedCalls returns sample calls of several plugins, clients and sites, newest first. */
export function makeEndedCalls(count: number): readonly CallView[] {
  return Array.from({ length: count }, (_, i) => {
    const callFields = {
      createdMs: todayNoonMs - i * 61_000,
      client: clients[i % 3] ?? '',
      site: sites[i % 3] ?? '',
      args: JSON.stringify({ channelId: `channel-${i}`, limit: i }),
      runMs: (i * 137) % 90_000,
    };
    if (i % 9 === 4)
      return makeFailedCall(`r${i}`, { ...callFields, tool: 'export_messages', error: `Page ${i} is missing` });
    if (i % 3 === 1)
      return makeEndedCall(`r${i}`, { ...callFields, plugin: 'browser', tool: 'browser_snapshot', endAudience: '' });
    return makeEndedCall(`r${i}`, { ...callFields, plugin: i % 2 === 0 ? 'messages' : 'calendar' });
  });
}

export const errorCalls: readonly CallView[] = [
  makeFailedCall('e1', { createdMs: todayNoonMs }),
  makeFailedCall('e2', { createdMs: todayNoonMs - 20_000, args: '{"channelId":"random"}' }),
  makeFailedCall('e3', { createdMs: todayNoonMs - 40_000 }),
  makeFailedCall('e4', {
    createdMs: todayNoonMs - 90_000,
    tool: 'export_messages',
    status: 'timed out',
    errorCode: 'idle_timeout',
    nextStep: 'Retry it, or ask for less in one call. `opentabs calls show` has the reports of the tool.',
    runMs: 30_000,
    error:
      'No progress and no result for 30 s. The last progress was page 42 of 100. The tool “export_messages” ran in a tab that was in the background the whole time.',
  }),
  makeFailedCall('e5', {
    createdMs: todayNoonMs - 100_000,
    status: 'cancelled',
    errorCode: 'cancelled',
    error: 'cancelled by the side panel',
  }),
  makeEndedCall('e6', { createdMs: todayNoonMs - 130_000 }),
  makeEndedCall('e7', { createdMs: todayNoonMs - 86_400_000, endAudience: '', args: '{}' }),
];

const longName = `${'extraordinarily_long_name_of_a_tool_'.repeat(9)}`.slice(0, 300);

export const longCalls: readonly CallView[] = [
  makeCall('n1', {
    plugin: longName,
    tool: 'post',
    client: longName,
    site: `${longName}.example`,
    args: `{"${longName}":1}`,
  }),
  makeCall('n2', {
    tool: longName,
    progress: 0.4,
    userMessage: longName,
    userStatusWord: longName,
    site: 'chat.example',
  }),
  makeCall('n3', {
    plugin: 'メッセージ管理プラグイン'.repeat(8),
    tool: '全チャンネルのメッセージを書き出す'.repeat(8),
    client: '編集者のエージェント'.repeat(8),
    userMessage: '百ページ中四十二ページを読み込み中。'.repeat(8),
  }),
  makeCall('n4', {
    plugin: 'הודעות'.repeat(20),
    tool: 'ייצוא_כל_ההודעות'.repeat(20),
    client: 'عميل البريد '.repeat(20),
    args: '{"ערוץ":"כללי"}',
  }),
  makeEndedCall('n5', {
    plugin: longName,
    tool: 'post',
    client: longName,
    site: `${longName}.example`,
    result: longName,
  }),
  makeFailedCall('n6', { tool: longName, error: `${longName} `.repeat(3) }),
  makeEndedCall('n7', {
    plugin: 'メッセージ管理プラグイン'.repeat(8),
    tool: '全チャンネル'.repeat(8),
    client: '編集者'.repeat(8),
  }),
  makeFailedCall('n8', { plugin: 'הודעות'.repeat(20), tool: 'ייצוא'.repeat(20), error: 'הערוץ לא נמצא. '.repeat(9) }),
];

export const failedCallDetails = {
  phases: [
    { name: 'request', startMs: 0, ms: 0.4 },
    { name: 'gates', startMs: 0.4, ms: 2.8 },
    { name: 'approval', startMs: 3.2, ms: 1204 },
    { name: 'queue', startMs: 1207.2, ms: 0.02 },
    { name: 'target', startMs: 1207.3, ms: 1.1 },
    { name: 'link', startMs: 1208.4, ms: 1.6 },
    { name: 'worker', startMs: 1210, ms: 0.7 },
    { name: 'page', startMs: 1210.7, ms: 1.2 },
    { name: 'handler', startMs: 1211.9, ms: 812 },
    { name: 'waiting for you', startMs: 2023.9, ms: 640 },
    { name: 'return', startMs: 2663.9, ms: 3.1 },
  ],
  traced: true,
  traceId: '0af7651916cd43dd8448eb211c80319c',
  failure: {
    stack: [
      'load (src/load.ts:12:9)',
      'exportMessages (src/tools/export-messages-of-a-channel.ts:31:11)',
      'src/tools/export.ts:8:3',
    ],
    hints: [
      'The browser got no answer that the page may read: the server is unreachable, or the address has another origin and its server does not allow this page (CORS). Use an address that the site itself requests.',
    ],
    log: [
      { atMs: todayNoonMs, level: 'info', message: 'exporting  {"channel":"general"}' },
      { atMs: todayNoonMs + 400, level: 'warning', message: '<b>retrying</b> 2 of 3' },
    ],
  },
} as const satisfies CallInspectResult;

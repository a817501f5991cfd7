/** Provides sample calls and plugins, in the format in which the daemon sends them to the side panel. */
import type {
  ActivityView,
  CallView,
  FailedPluginView,
  PluginInspectResult,
  PluginView,
  SettingView,
  WaitingView,
} from '../../wire/wire.gen.ts';

export function makeCall(callId: string, callOverrides: Partial<CallView> = {}): CallView {
  const runningCall = {
    callId,
    plugin: 'messages',
    tool: 'export_messages',
    status: 'running',
    runMs: 12_345,
  } as const;
  return { ...runningCall, client: 'Claude Code', ...callOverrides };
}

export function makeWaitingCall(callId: string, ticketId: string, callOverrides: Partial<WaitingView> = {}): CallView {
  const waitingView: WaitingView = {
    ticketId,
    kind: 'permission',
    reason: 'messages asks before each call.',
    args: '{"channelId":"general","limit":10000,"since":"2026-01-01"}',
    leftMs: 272_000,
    scopes: ['once', 'session', 'time', 'always'],
    ...callOverrides,
  };
  return makeCall(callId, { status: 'pending', runMs: 0, waiting: waitingView });
}

export const runningCalls: readonly CallView[] = [
  makeCall('c1', { progress: 0.42, userMessage: 'page 42 of 100', userStatusWord: 'indexing' }),
  makeCall('c2', {
    tool: 'summarise',
    prompt: true,
    client: 'Claude Desktop',
    progress: 0.7,
    message: 'chunk 7 of 10',
  }),
  makeCall('c3', { tool: 'read_thread', parentCallId: 'c2', userMessage: 'reading “Grüße”', runMs: 4000 }),
  makeCall('c4', { plugin: 'calendar', tool: 'list_events', parentCallId: 'c3', status: 'pending', runMs: 0 }),
  makeCall('c5', {
    plugin: 'calendar',
    tool: 'find_a_meeting_slot_for_the_whole_team',
    client: 'Cursor',
    runMs: 65_000,
  }),
  makeCall('c6', { tool: 'post', status: 'done', endAudience: 'user', result: 'Sent to 3 recipients.', runMs: 800 }),
  makeCall('c7', { tool: 'echo', status: 'done', result: '{"secret":1}', runMs: 3 }),
  makeCall('c8', { tool: 'search', status: 'cancelled', runMs: 5100, error: 'stopped by the side panel' }),
];

export const failedCalls: readonly CallView[] = [
  makeCall('f1', {
    status: 'failed',
    runMs: 31_000,
    error: 'No progress for 30 s. Last progress: page 42 of 100, 30 s ago. Ask for fewer pages, or retry.',
  }),
  makeCall('f2', { tool: 'post', status: 'failed', runMs: 120, error: 'Channel not found' }),
  makeCall('f3', { tool: 'echo', status: 'done', runMs: 3 }),
];

/** The second call of makeSuspendedCalls waits for the user to act in the tab with the ID tabId. */
export function makeSuspendedCalls(tabId: number): readonly CallView[] {
  const loginCall = makeWaitingCall('s2', 't2', {
    kind: 'user',
    title: 'Log in to continue',
    reason: 'The site signed you out after 2 of 10 pages.',
    leftMs: 45_000,
  });
  return [
    makeWaitingCall('s1', 't1'),
    { ...loginCall, tabId, runMs: 12_000, userMessage: 'page 2 of 10' },
    { ...makeWaitingCall('s3', 't3', { scopes: ['once'], args: '{}' }), tool: 'post', client: 'Cursor' },
  ];
}

export function makeActivity(type: string, value: unknown): ActivityView {
  const content = JSON.stringify(value);
  return { type, content, audience: 'user', bytes: content.length };
}

const messageRows = Array.from({ length: 30 }, (_, i) => ({
  id: i + 1,
  from: ['Ada', 'Grace', 'Linus'][i % 3],
  subject: `Subject of message ${i + 1}`,
  unread: i % 2 === 0,
}));

export const callsWithActivities: readonly CallView[] = [
  makeCall('a1', {
    progress: 0.6,
    userMessage: 'thread 6 of 10',
    activities: [
      makeActivity(
        'text',
        'Read 6 threads.\nTwo of them are about the release. <img src=x onerror="document.title=1">',
      ),
      makeActivity('code', {
        language: 'sql',
        code: "SELECT id, subject\nFROM messages\nWHERE channel = $1 AND created_at > now() - interval '7 days'\nORDER BY id;",
      }),
      makeActivity('table', messageRows),
      makeActivity('debug', { cursor: 'abc', seen: [1, 2, 3] }),
      { type: 'log', audience: 'user', bytes: 1_400_000 },
      { type: 'notes', content: '"not for the user"', bytes: 18 },
    ],
  }),
];

/** The progress of each sample call grows with fraction, a number from 0 to 1. */
export function makeManyCalls(progressFraction: number): readonly CallView[] {
  const tools = ['export_messages', 'read_thread', 'search', 'list_channels'];
  return Array.from({ length: 30 }, (_, i) =>
    makeCall(`m${i}`, {
      tool: tools[i % 4] ?? '',
      runMs: 60_000 - i * 1700,
      ...(i % 3 === 0 ? { progress: Math.min(1, progressFraction + i / 60), userMessage: `page ${i} of 30` } : {}),
      ...(i % 7 === 5 ? { status: 'pending' as const } : {}),
      ...(i === 2 ? { activities: [makeActivity('text', 'hello')] } : {}),
    }),
  );
}

export function makePlugin(name: string, displayName: string, callOverrides: Partial<PluginView> = {}): PluginView {
  return {
    name,
    displayName,
    version: '1.2.0',
    hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    reviewed: true,
    permission: 'ask',
    source: 'npm',
    matches: ['*://localhost/*', '*://127.0.0.1/*'],
    tools: [
      { name: 'echo', displayName: 'Echo', readOnly: true, permission: 'auto', category: 'Reading' },
      { name: 'export_messages', displayName: 'Export messages', category: 'Reading' },
      { name: 'post', displayName: 'Post', permission: 'off', category: 'Writing' },
    ],
    ...callOverrides,
  };
}

export const samplePlugins: readonly PluginView[] = [
  makePlugin('messages', 'Messages'),
  makePlugin('calendar', 'Calendar', { permission: 'auto', matches: ['https://calendar.example.com/*'] }),
  makePlugin('bank', 'Bank', {
    permission: 'off',
    matches: ['https://bank.example.com/*', 'https://*.bank.example/*'],
  }),
  makePlugin('mail', 'Mail for teams', {
    reviewed: false,
    permission: 'off',
    version: '2.0.0-beta.1',
    matches: ['https://mail.example.com/*'],
  }),
];

export function makeInspection(callOverrides: Partial<PluginInspectResult> = {}): PluginInspectResult {
  return {
    hash: samplePlugins[3]?.hash ?? '',
    description: 'Reads, writes and sends mail of your team.',
    package: '@acme/opentabs-plugin-mail',
    source: 'npm',
    folder: '/home/ada/.local/state/opentabs/packages/@acme/opentabs-plugin-mail/2.0.0-beta.1-1f2e3d4c',
    author: 'Ada Lovelace',
    powers: [
      {
        name: 'fetch',
        meaning: "Sends requests from the page, with the user's session.",
        sections: ['code', 'libraries'],
      },
      { name: 'localStorage', meaning: 'Reads or writes what the site keeps in the browser.', sections: ['code'] },
      { name: 'eval', meaning: 'Runs text as code, which this review does not show.', sections: ['libraries'] },
    ],
    tools: [
      { name: 'echo', description: 'Returns its arguments.' },
      { name: 'export_messages', description: 'Exports all messages of a channel, page by page.' },
      { name: 'post', description: 'Posts a message. The message cannot be recalled.', destructive: true },
    ],
    sections: [
      { name: 'code', pages: 2, lines: 1500 },
      { name: 'libraries', pages: 5, lines: 9000 },
    ],
    ...callOverrides,
  };
}

/** The first setting in sampleSettings is required, but has no value. */
export const sampleSettings: readonly SettingView[] = [
  {
    key: 'site',
    type: 'url',
    label: 'Site',
    description: 'Where your wiki is.',
    required: true,
    placeholder: 'https://wiki.example.com',
  },
  { key: 'apiToken', type: 'string', label: 'API token', secret: true, set: true },
  { key: 'size', type: 'number', label: 'Results on a page', set: true, value: 20 },
  { key: 'drafts', type: 'boolean', label: 'Read drafts', set: true, value: false },
  { key: 'order', type: 'select', label: 'Order', options: ['newest', 'oldest'], set: true, value: 'newest' },
];

/**
 * hostileIcon is an SVG icon that would run a script and load a remote image if the side panel inserted it as markup.
 */
const hostileIcon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" onload="document.title=\'pwned\'"><script>document.title="pwned"</script>' +
  '<image href="http://127.0.0.1:9/beacon.png"/><circle cx="8" cy="8" r="7" fill="#3b82f6"/></svg>';

export function makeWikiPlugin(callOverrides: Partial<PluginView> = {}): PluginView {
  return makePlugin('wiki', 'Wiki', {
    icon: hostileIcon,
    homepage: 'https://wiki.example.com/',
    matches: [],
    settings: sampleSettings,
    opensAt: 'https://wiki.example.com/start?of=a&very=long&address=that-does-not-fit-into-one-line',
    ...callOverrides,
  });
}

export const recommendedPlugin = makePlugin('notes', 'Notes', {
  reviewed: false,
  permission: 'off',
  icon: hostileIcon,
  matches: ['https://notes.example.com/*'],
  recommended: {
    by: 'claude-code',
    permission: 'ask',
    note: 'Reads and writes notes. Its code calls /api/notes only. <b>bold</b>',
  },
});

export const failedPlugins: readonly FailedPluginView[] = [
  { name: 'old', path: '/home/ann/plugins/old', error: 'dist/tools.json is missing; run opentabs plugin build first' },
];

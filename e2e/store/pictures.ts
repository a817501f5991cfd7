/**
 * Creates the images of the Chrome Web Store listing. The program's first command-line argument is the folder for the
 * images.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { CallView, PluginView, StateBrowserParams } from '../../wire/wire.gen.ts';
import { repositoryRoot } from '../harness/process.ts';
import { type PanelFixture, startPanelFixture } from '../panel/panel-fixture.ts';
import { makeCall, makeWaitingCall, samplePlugins } from '../panel/sample-views.ts';

const PanelZoom = 1.3;
const PanelSize = { width: 468, height: 720 };

interface StoreScreenshot {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  showScene(fixture: PanelFixture): Promise<void>;
}

const approvalCalls: readonly CallView[] = [
  makeWaitingCall('a1', 't1', { args: '{"channelId":"general","since":"2026-11-01","limit":500}' }),
  makeCall('a2', { tool: 'search', progress: 0.35, userMessage: 'channel 7 of 20' }),
];

const longCalls: readonly CallView[] = [
  makeCall('c1', { progress: 0.42, userMessage: 'page 42 of 100', userStatusWord: 'exporting', runMs: 98_000 }),
  makeCall('c2', {
    plugin: 'calendar',
    tool: 'find_meeting_slot',
    client: 'Cursor',
    userMessage: 'comparing 8 calendars',
  }),
  makeCall('c3', { tool: 'post', status: 'done', endAudience: 'user', result: 'Sent to 3 recipients.', runMs: 800 }),
  makeCall('c4', { tool: 'read_thread', status: 'done', runMs: 1200, endAudience: 'user', result: '14 messages' }),
  makeCall('c5', { tool: 'search', status: 'cancelled', runMs: 5100, error: 'stopped by the side panel' }),
];

const shownPlugins: readonly PluginView[] = samplePlugins.map((plugin) => ({
  ...plugin,
  matches: [`https://${plugin.name}.example.com/*`],
}));

const browserTools: StateBrowserParams = {
  permission: 'auto',
  groups: [
    {
      name: 'core',
      tools: [
        { name: 'browser_tabs', displayName: 'Tabs', permission: 'auto' },
        { name: 'browser_snapshot', displayName: 'Snapshot', permission: 'auto' },
        { name: 'browser_click', displayName: 'Click', permission: 'ask' },
      ],
    },
  ],
  sites: [
    { site: 'bank.example.com', permission: 'off' },
    { site: 'shop.example.com', permission: 'ask' },
    { site: 'wiki.example.com', permission: 'auto' },
  ],
};

const storeScreenshots: readonly StoreScreenshot[] = [
  {
    name: '1-approval',
    title: 'You decide',
    text: 'An agent asks before it calls a tool in your pages. Allow one call, or all calls of an agent for some time.',
    showScene: async ({ panel, showCalls }) => {
      showCalls(approvalCalls);
      await panel.getByRole('button', { name: 'Deny' }).waitFor();
      await panel.locator('[aria-disabled=true]').first().waitFor({ state: 'detached' });
    },
  },
  {
    name: '2-calls',
    title: 'You see what agents do',
    text: 'Each call shows its progress and how it ended. Stop a call at any time: its code in the page stops too.',
    showScene: async ({ panel, showCalls }) => {
      showCalls(longCalls);
      await panel.getByText('page 42 of 100').waitFor();
    },
  },
  {
    name: '3-plugins',
    title: 'You review plugins',
    text: 'Plugins add the tools of a site. A plugin runs only after you have reviewed it, and only on its own site.',
    showScene: async ({ panel, server }) => {
      server.notifyPanel('state.plugins', { plugins: shownPlugins });
      await panel.getByRole('tab', { name: /Plugins/ }).click();
      await panel.getByRole('button', { name: 'Review mail' }).waitFor();
    },
  },
  {
    name: '4-sites',
    title: 'You choose the sites',
    text: 'Agents use a page without a plugin only on the sites that you allow. You can switch each group of tools off.',
    showScene: async ({ panel, server }) => {
      server.notifyPanel('state.browser', browserTools);
      await panel.getByRole('tab', { name: 'Browser' }).click();
      await panel.getByText('shop.example.com').waitFor();
    },
  },
];

const icon = makeDataUrl(readFileSync(join(repositoryRoot, 'extension/icons/128.png')));

function makeDataUrl(png: Buffer): string {
  return `data:image/png;base64,${png.toString('base64')}`;
}

const style = `
  body { margin: 0; font-family: system-ui, sans-serif; color: #14213d; background: linear-gradient(135deg, #eef4ff, #dfe9fb); }
  main { display: flex; align-items: center; justify-content: space-between; height: 100vh; box-sizing: border-box; }
  h1 { margin: 0 0 20px; font-size: 58px; line-height: 1.1; }
  p { margin: 0; font-size: 25px; line-height: 1.45; }
  .name { display: flex; align-items: center; gap: 16px; margin-bottom: 40px; font-size: 30px; font-weight: 600; }
  .name img { width: 56px; }
  .panel { border-radius: 12px; box-shadow: 0 12px 40px rgb(20 33 61 / 25%); }`;

async function takeScreenshot(
  fixture: PanelFixture,
  page: Page,
  storeScreenshot: StoreScreenshot,
  folder: string,
): Promise<void> {
  const { panel, chrome, server, showCalls } = fixture;
  showCalls([]);
  await panel.setViewportSize(PanelSize);
  await panel.goto(`chrome-extension://${chrome.extensionId}/panel.html`);
  await panel.evaluate((zoom) => document.body.style.setProperty('zoom', String(zoom)), PanelZoom);
  server.notifyPanel('state.browser', browserTools);
  server.notifyPanel('state.plugins', { plugins: shownPlugins });
  await storeScreenshot.showScene(fixture);
  const pictureUrl = makeDataUrl(await panel.screenshot());
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.setContent(
    `<!doctype html><style>${style} main { padding: 0 72px; } .words { width: 560px; }</style>
    <main><div class="words"><div class="name"><img src="${icon}">opentabs</div><h1>${storeScreenshot.title}</h1><p>${storeScreenshot.text}</p></div>
    <img class="panel" src="${pictureUrl}" width="${PanelSize.width}" height="${PanelSize.height}"></main>`,
  );
  await page.screenshot({ path: join(folder, `${storeScreenshot.name}.png`) });
}

async function drawPromoTile(page: Page, folder: string): Promise<void> {
  await page.setViewportSize({ width: 440, height: 280 });
  await page.setContent(
    `<!doctype html><style>${style} main { flex-direction: column; justify-content: center; gap: 14px; text-align: center; }
    h1 { font-size: 42px; margin: 0; } p { font-size: 19px; width: 380px; }</style>
    <main><img src="${icon}" width="84"><h1>opentabs</h1><p>AI agents use the pages that you are logged in to, after your approval.</p></main>`,
  );
  await page.screenshot({ path: join(folder, 'tile.png') });
}

async function main(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const fixture = await startPanelFixture();
  try {
    const page = await fixture.chrome.openPage('about:blank');
    for (const storeScreenshot of storeScreenshots) await takeScreenshot(fixture, page, storeScreenshot, folder);
    await drawPromoTile(page, folder);
  } finally {
    await fixture.close();
  }
}

await main(process.argv[2] ?? `${repositoryRoot}bin/store`);

import type { PluginInfo } from '../../wire/wire.gen.ts';

/** demoPlugin is a test plugin that runs on all pages of https://demo.example. */
export const demoPlugin: PluginInfo = {
  name: 'demo',
  displayName: 'Demo',
  hash: 'h',
  script: 's',
  world: 'main',
  matches: ['https://demo.example/*'],
};

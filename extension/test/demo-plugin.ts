import type { PluginInfo } from '../../wire/wire.gen.ts';

/** demoPlugin is a plugin for all pages of https://demo.example. */
export const demoPlugin: PluginInfo = {
  name: 'demo',
  displayName: 'Demo',
  hash: 'h',
  script: 's',
  world: 'main',
  matches: ['https://demo.example/*'],
};

import assert from 'node:assert/strict';
import test from 'node:test';
import { definePlugin, OpenTabsPlugin } from './plugin.ts';
import type { ToolDefinition } from './tool.ts';

test('definePlugin makes an instance and leaves absent fields to package.json', async () => {
  const plugin = definePlugin({ tools: [], isReady: () => true });
  assert.ok(plugin instanceof OpenTabsPlugin);
  assert.equal(await plugin.isReady(), true);
  assert.deepEqual([plugin.name, plugin.displayName, plugin.description, plugin.urlPatterns], ['', '', '', []]);
  assert.equal(plugin.onActivate, undefined);
});

test('definePlugin keeps the fields, and its methods can use `this`', () => {
  const calls: unknown[] = [];
  const pluginDefinition = {
    name: 'a',
    displayName: 'A',
    description: 'd',
    urlPatterns: ['*://a.example/*'],
    homepage: 'https://a.example/',
    tools: [],
    ready: true,
    isReady() {
      return this.ready;
    },
    onNavigate(url: string) {
      calls.push(this === pluginDefinition, url);
    },
  };
  const plugin = definePlugin(pluginDefinition);
  plugin.onNavigate?.('/x');
  assert.deepEqual(calls, [true, '/x']);
  assert.equal(plugin.homepage, 'https://a.example/');
});

test('a class written for the original OpenTabs SDK compiles', async () => {
  class Site extends OpenTabsPlugin {
    readonly name = 'site';
    readonly displayName = 'Site';
    readonly description = 'A site.';
    readonly urlPatterns = ['*://site.example/*'];
    override readonly excludePatterns = ['*://site.example/login'];
    readonly tools: ToolDefinition[] = [];
    async isReady(): Promise<boolean> {
      return true;
    }
    override onToolInvocationEnd(_tool: string, _success: boolean, _durationMs: number): void {}
  }
  const site = new Site();
  assert.equal(await site.isReady(), true);
  assert.deepEqual(site.excludePatterns, ['*://site.example/login']);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { definePlugin, OpenTabsPlugin } from './plugin.ts';
import { definePrompt, type PromptDefinition, type PromptMessage } from './prompt.ts';
import type { ToolDefinition } from './tool.ts';

const args = z.object({ channelId: z.string(), max: z.number().default(5) });

const summarisePrompt = definePrompt({
  name: 'summarise',
  description: 'Sums a channel up.',
  args,
  render({ channelId, max }, context) {
    context?.reportPercent(50);
    return `Sum up the last ${max} messages of ${channelId}.`;
  },
});

const greetPrompt = definePrompt({
  name: 'greet',
  async render() {
    return { messages: [{ role: 'user', content: { type: 'text', text: 'Greet the user.' } }] };
  },
});

test('a prompt renders without a context', async () => {
  assert.equal(summarisePrompt.render({ channelId: 'a', max: 2 }), 'Sum up the last 2 messages of a.');
  assert.equal((await greetPrompt.render({})).messages[0]?.content.type, 'text');
});

test('definePrompt infers types from the arguments', () => {
  const checkPromptTypes = () => {
    // @ts-expect-error: max must be a number, the type after parsing
    void summarisePrompt.render({ channelId: 'a', max: 'x' });
    // @ts-expect-error: channelId is missing
    void summarisePrompt.render({ max: 1 });
    // @ts-expect-error: a prompt must return a text or messages
    definePrompt({ name: 'bad', render: () => 5 });
    // @ts-expect-error: a message of a prompt cannot have the role "system"
    definePrompt({ name: 'bad', render: () => [{ role: 'system', content: { type: 'text', text: '' } }] });
    // @ts-expect-error: the arguments must be an object
    definePrompt({ name: 'bad', args: z.string(), render: () => '' });
  };
  assert.equal(typeof checkPromptTypes, 'function');
});

test('one plugin can contain prompts with different argument types', () => {
  const plugin = definePlugin({ tools: [], prompts: [summarisePrompt, greetPrompt], isReady: () => true });
  assert.deepEqual(plugin.prompts, [summarisePrompt, greetPrompt]);
  assert.equal(definePlugin({ tools: [], isReady: () => true }).prompts, undefined);
});

test('prompts written for the original OpenTabs SDK compile', async () => {
  const composePrompt = definePrompt({
    name: 'compose_message',
    description: 'Drafts a message.',
    arguments: [{ name: 'to', description: 'Whom', required: true }],
    render: async (promptArgs): Promise<PromptMessage[]> => [
      { role: 'user', content: { type: 'text', text: `Write to ${promptArgs.to?.toUpperCase()}.` } },
    ],
  });
  const typedPrompt: PromptDefinition = definePrompt({
    name: 'typed',
    args,
    render: async ({ max }) => [{ role: 'assistant', content: { type: 'text', text: max.toFixed() } }],
  });
  class Site extends OpenTabsPlugin {
    readonly name = 'site';
    readonly displayName = 'Site';
    readonly description = 'A site.';
    readonly urlPatterns = ['*://site.example/*'];
    readonly tools: ToolDefinition[] = [];
    override readonly prompts: PromptDefinition[] = [composePrompt, typedPrompt];
    async isReady(): Promise<boolean> {
      return true;
    }
  }
  assert.equal(new Site().prompts.length, 2);
  const [message] = await composePrompt.render({ to: 'ann' });
  assert.deepEqual(message, { role: 'user', content: { type: 'text', text: 'Write to ANN.' } });
});

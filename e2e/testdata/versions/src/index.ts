import { definePlugin, defineTool, getAuthCache, getPreScriptValue, setAuthCache } from '@opentabs/sdk';
import { z } from 'zod';

// The end-to-end tests replace the text "build 1" before each build of this plugin.
const buildName = 'build 1';

const getBuildTool = defineTool({
  name: 'get_build',
  description: 'Returns the running build, and the state that earlier builds left in the document.',
  input: z.object({}),
  output: z.object({ build: z.string(), builds: z.array(z.string()), preScriptValue: z.string(), teardowns: z.string() }),
  handle: async () => ({
    build: buildName,
    builds: getAuthCache<string[]>('builds') ?? [],
    preScriptValue: getPreScriptValue<string>('early') ?? '',
    teardowns: document.documentElement.dataset.torn ?? '',
  }),
});

const waitTool = defineTool({
  name: 'wait',
  description: 'Waits until the page has the attribute data-go, and returns the build that waited.',
  input: z.object({}),
  output: z.object({ build: z.string() }),
  handle: async (_, context) => {
    document.documentElement.dataset.waiting = buildName;
    while (document.documentElement.dataset.go === undefined) {
      context?.reportProgress({ message: 'waiting' });
      await new Promise((resolve) => setTimeout(resolve, 50));
      context?.signal.throwIfAborted();
    }
    return { build: buildName };
  },
});

export default definePlugin({
  tools: [getBuildTool, waitTool],

  isReady() {
    return true;
  },

  onActivate() {
    setAuthCache('builds', [...(getAuthCache<string[]>('builds') ?? []), buildName]);
  },

  teardown() {
    document.documentElement.dataset.torn = `${document.documentElement.dataset.torn ?? ''}${buildName};`;
  },
});

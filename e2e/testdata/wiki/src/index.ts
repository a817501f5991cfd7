import { definePlugin, defineTool, getConfig } from '@opentabs/sdk';
import { z } from 'zod';

const settingKeys = ['site', 'apiToken', 'size', 'drafts', 'order'];

const readSettingsTool = defineTool({
  name: 'read_settings',
  description: 'Returns the settings that the plugin has in the page.',
  annotations: { readOnlyHint: true },
  input: z.object({}),
  output: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  handle: async () =>
    Object.fromEntries(
      settingKeys.flatMap((key) => {
        const value = getConfig(key);
        return value === undefined ? [] : [[key, value]];
      }),
    ),
});

export default definePlugin({ tools: [readSettingsTool], isReady: () => true });

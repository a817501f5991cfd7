import { defineTool, sleep } from '@opentabs/sdk';
import { z } from 'zod';
import { channelId, message, readPages } from '../channel.ts';

export const exportMessages = defineTool({
  name: 'export_messages',
  displayName: 'Export messages',
  description: 'Returns all messages of a channel, oldest first. It reads them page by page and reports each page.',
  icon: 'download',
  group: 'Channels',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({
    channelId,
    pageDelayMs: z
      .number()
      .int()
      .min(0)
      .max(60_000)
      .default(0)
      .describe('How long to wait between two pages, in milliseconds'),
  }),
  output: z.object({
    channelId: z.string(),
    count: z.number().int().describe('The number of messages'),
    messages: z.array(message),
  }),

  async handle({ channelId, pageDelayMs }, context) {
    const signal = context?.signal;
    const messages: z.infer<typeof message>[] = [];
    context?.endAudience('user');
    let pageCount = 0;
    for await (const page of readPages(channelId, signal)) {
      messages.push(...page.messages);
      context?.reportProgress({
        progress: ++pageCount,
        total: page.totalPages,
        message: `${messages.length} messages read`,
        audience: 'user',
      });
      if (page.nextCursor) await sleep(pageDelayMs, { signal });
    }
    return { channelId, count: messages.length, messages };
  },
});

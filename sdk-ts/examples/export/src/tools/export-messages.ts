import { defineTool, fetchJSON, ToolError } from '@opentabs-dev/plugin-sdk';
import type { ToolHandlerContext } from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';

export const exportMessages = defineTool({
  name: 'export_messages',
  displayName: 'Export Messages',
  description: 'Export all messages from a channel',
  icon: 'download',
  input: z.object({
    channelId: z.string().describe('Channel ID to export'),
  }),
  output: z.object({
    messages: z.array(z.object({
      text: z.string(),
      author: z.string(),
      timestamp: z.string(),
    })),
    total: z.number(),
  }),
  handle: async (params, context) => {
    const messages: { text: string; author: string; timestamp: string }[] = [];
    let cursor: string | undefined;
    let page = 0;

    do {
      const result = await fetchJSON<{
        messages: { text: string; author: string; timestamp: string }[];
        nextCursor?: string;
        totalPages: number;
      }>(`/api/channels/${params.channelId}/messages?cursor=${cursor ?? ''}`);

      if (!result) throw ToolError.internal('Unexpected empty response');

      messages.push(...result.messages);
      cursor = result.nextCursor;
      page++;

      context?.reportProgress({
        progress: page,
        total: result.totalPages,
        message: `Exported page ${page} of ${result.totalPages}`,
      });
    } while (cursor);

    return { messages, total: messages.length };
  },
});

import { defineTool, ToolError } from '@opentabs/sdk';
import { z } from 'zod';
import { channelId } from '../channel.ts';
import { exportMessages } from './export-messages.ts';

export const compareChannels = defineTool({
  name: 'compare_channels',
  displayName: 'Compare channels',
  description: 'Counts the messages of several channels by exporting one after the other.',
  icon: 'scale',
  group: 'Channels',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({ channelIds: z.array(channelId).min(1).max(10).describe('The channels') }),
  output: z.object({ channels: z.array(z.object({ channelId: z.string(), count: z.number().int() })) }),

  async handle({ channelIds }, context) {
    if (!context) throw ToolError.internal('compare_channels calls another tool, so it needs a context');
    const channels: { channelId: string; count: number }[] = [];
    // Each channel contributes the same share to the progress: with three channels, the progress is 33, 66 and 100 %.
    const report = (message: string) =>
      context.reportPercent(Math.floor((100 * channels.length) / channelIds.length), message, { audience: 'user' });
    for (const channelId of channelIds) {
      report(`Reading ${channelId}`);
      const { count } = exportMessages.output.parse(await context.call('export_messages', { channelId }));
      channels.push({ channelId, count });
    }
    report(`Read ${channels.length === 1 ? '1 channel' : `${channels.length} channels`}`);
    context.endAudience('user');
    return { channels };
  },
});

import { defineTool, image, imageSchema, ToolError } from '@opentabs/sdk';
import { z } from 'zod';

export const drawTool = defineTool({
  name: 'draw',
  description: 'Draws a bar for each number and returns the chart as a picture.',
  icon: 'chart-bar',
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  input: z.object({
    values: z.array(z.number().min(0)).min(1).max(100).describe('The heights of the bars'),
  }),
  output: z.object({ bars: z.number().int(), chart: imageSchema }),

  async handle({ values }) {
    const height = 100;
    const canvas = new OffscreenCanvas(values.length * 10, height);
    const canvasContext = canvas.getContext('2d');
    if (!canvasContext) throw ToolError.internal('OffscreenCanvas has no 2D context in this page');
    const highestValue = Math.max(...values) || 1;
    values.forEach((value, i) => {
      const barHeight = (value / highestValue) * height;
      canvasContext.fillStyle = `hsl(${(i * 47) % 360} 70% 45%)`;
      canvasContext.fillRect(i * 10, height - barHeight, 9, barHeight);
    });
    return { bars: values.length, chart: await image(await canvas.convertToBlob({ type: 'image/png' })) };
  },
});

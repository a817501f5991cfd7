/** Reads the size and the colors of screenshots. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { ToolOutput } from './browser-fixture.ts';

export function readPngSize({ image: pngImage }: ToolOutput): [number, number] {
  const bytes = Buffer.from(pngImage?.data ?? '', 'base64');
  assert.equal(pngImage?.mimeType, 'image/png');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

/** The browser of the argument `page` decodes the screenshot. */
export async function readColorAt(
  page: Page,
  { image: pngImage }: ToolOutput,
  x: number,
  y: number,
): Promise<number[]> {
  return await page.evaluate(
    async ({ url, x, y }) => {
      const bitmap = await createImageBitmap(await (await fetch(url)).blob());
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
      context?.drawImage(bitmap, 0, 0);
      return [...(context?.getImageData(x, y, 1, 1).data ?? [])].slice(0, 3);
    },
    { url: `data:${pngImage?.mimeType};base64,${pngImage?.data}`, x, y },
  );
}

// Finds points inside the areas of image maps. The browser draws no boxes for image map areas; they receive input
// through the image.
import type { Rect } from './operations.ts';
import { unclobbered } from './unclobbered.ts';

export function findMappedImages(area: HTMLAreaElement): HTMLImageElement[] {
  const name = area.closest('map')?.name.toLowerCase();
  if (!name) return [];
  return [...unclobbered.images].filter((image) => image.useMap.toLowerCase() === `#${name}`);
}

/** listAreaPoints returns points of the viewport that are probably inside an image map area. */
export function listAreaPoints(area: HTMLAreaElement, rect: Rect): (readonly [x: number, y: number])[] {
  const numbers = area.coords
    .split(/[\s,;]+/)
    .map(Number)
    .filter(Number.isFinite);
  const pairs: [number, number][] = [];
  for (let i = 0; i + 1 < numbers.length; i += 2) pairs.push([numbers[i] ?? 0, numbers[i + 1] ?? 0]);
  const [first, second] = pairs;
  if (!first) return [[rect.x + rect.width / 2, rect.y + rect.height / 2]]; // shape=default has no coordinates.
  const isCircle = area.shape.startsWith('circ');
  const inner = isCircle
    ? [first]
    : [averagePoint(pairs), ...pairs.map((pair, i) => averagePoint([pair, second ?? pair, pairs[i + 2] ?? first]))];
  return inner.map(([x, y]) => [rect.x + x, rect.y + y] as const);
}

function averagePoint(pairs: readonly (readonly [number, number])[]): [number, number] {
  const total = (axis: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[axis], 0);
  return [total(0) / pairs.length, total(1) / pairs.length];
}

// Finds points inside the areas of image maps. The browser draws no boxes for image map areas; they receive input
// through the image.
import type { Rect } from './operations.ts';
import { unclobberedDocument } from './unclobbered.ts';

export function findMappedImages(areaElement: HTMLAreaElement): HTMLImageElement[] {
  const name = areaElement.closest('map')?.name.toLowerCase();
  if (!name) return [];
  return [...unclobberedDocument.images].filter((image) => image.useMap.toLowerCase() === `#${name}`);
}

/** listAreaPoints returns points of the viewport that are probably inside an image map area. */
export function listAreaPoints(areaElement: HTMLAreaElement, rect: Rect): (readonly [x: number, y: number])[] {
  const coordinates = areaElement.coords
    .split(/[\s,;]+/)
    .map(Number)
    .filter(Number.isFinite);
  const coordinatePairs: [number, number][] = [];
  for (let i = 0; i + 1 < coordinates.length; i += 2)
    coordinatePairs.push([coordinates[i] ?? 0, coordinates[i + 1] ?? 0]);
  const [firstPair, secondPair] = coordinatePairs;
  // An area with shape=default has no coordinates.
  if (!firstPair) return [[rect.x + rect.width / 2, rect.y + rect.height / 2]];
  const isCircle = areaElement.shape.startsWith('circ');
  const inner = isCircle
    ? [firstPair]
    : [
        averagePoint(coordinatePairs),
        ...coordinatePairs.map((pair, i) =>
          averagePoint([pair, secondPair ?? pair, coordinatePairs[i + 2] ?? firstPair]),
        ),
      ];
  return inner.map(([x, y]) => [rect.x + x, rect.y + y] as const);
}

function averagePoint(coordinatePairs: readonly (readonly [number, number])[]): [number, number] {
  const total = (axis: 0 | 1) => coordinatePairs.reduce((sum, pair) => sum + pair[axis], 0);
  return [total(0) / coordinatePairs.length, total(1) / coordinatePairs.length];
}

// Shapes of drawings (SVG), which have no role and often no name, although a user may click them.
import { shorten } from './visible-text.ts';

const ShapeTags = new Set('rect circle ellipse polygon polyline path line text image use'.split(' '));
/** DrawingTags are the tags of which a drawing contains at least one; a logo only has paths. */
const DrawingTags = 'rect,circle,ellipse,polygon,text,image';
/** MaxShapes limits the shapes of a drawing that have lines. A map or a chart with more shapes has none. */
const MaxShapes = 80;
/** MinDrawingPixels is the least width and height of a drawing; smaller ones are icons. */
const MinDrawingPixels = 48;
const MaxColorCharacters = 20;

/** Drawings decides which drawings have lines for their shapes. One Drawings serves one walk. */
export class Drawings {
  readonly #isShown = new Map<SVGSVGElement, boolean>();

  /** isShape reports whether an element is a shape of a drawing that a user may act on. */
  isShape(element: Element): boolean {
    if (!(element instanceof SVGGraphicsElement) || !ShapeTags.has(element.localName)) return false;
    const drawing = element.ownerSVGElement;
    if (!drawing) return false;
    const known = this.#isShown.get(drawing) ?? showsShapes(drawing);
    this.#isShown.set(drawing, known);
    return known;
  }
}

function showsShapes(drawing: SVGSVGElement): boolean {
  if (drawing.closest('a,button,label,[role=button],[role=link],[role=img],[aria-hidden=true]')) return false;
  const { width, height } = drawing.getBoundingClientRect();
  if (width < MinDrawingPixels || height < MinDrawingPixels) return false;
  const count = drawing.querySelectorAll([...ShapeTags].join()).length;
  return count <= MaxShapes && drawing.querySelector(DrawingTags) !== null;
}

/** shapeMarks returns the name, the colour, the size and the place of a shape, such as ' [fill=red] [20x20 at 5,5]'. */
export function shapeMarks(element: Element): string {
  const drawing = element instanceof SVGGraphicsElement ? element.ownerSVGElement : null;
  if (!drawing) return '';
  const id = element.id !== '' && !element.id.includes(']') ? ` [id=${shorten(element.id, 40)}]` : '';
  const fill = element.getAttribute('fill') ?? '';
  const color = /^[\w#(),.% -]+$/.test(fill) && fill !== 'none' ? ` [fill=${shorten(fill, MaxColorCharacters)}]` : '';
  const [own, outer] = [element.getBoundingClientRect(), drawing.getBoundingClientRect()];
  const size = `${Math.round(own.width)}x${Math.round(own.height)}`;
  return `${id}${color} [${size} at ${Math.round(own.x - outer.x)},${Math.round(own.y - outer.y)}]`;
}

// Describes the shapes of SVG drawings, such as circles. The shapes of an SVG drawing have no role and often no name,
// but a user can click them.
import { shorten } from './visible-text.ts';

const ShapeTags = new Set('rect circle ellipse polygon polyline path line text image use'.split(' '));
/** DrawingSelector omits `path`, because the shapes in logos are SVG paths. */
const DrawingSelector = 'rect,circle,ellipse,polygon,text,image';
/** If a map or chart has more than MaxShapes shapes, the snapshot lists none of them. */
const MaxShapes = 80;
/** An SVG element smaller than MinDrawingPixels in width or height counts as an icon. */
const MinDrawingPixels = 48;
const MaxColorCharacters = 20;
const SimpleShapeTags = new Set('rect circle ellipse triangle polygon polyline line'.split(' '));

const TrianglePointCount = 3;

/**
 * getShapeName returns the word for a shape, such as circle. A polygon with three corners is a triangle, because SVG
 * has no triangle element.
 */
export function getShapeName(element: Element): string {
  const isTriangle = element instanceof SVGPolygonElement && element.points.numberOfItems === TrianglePointCount;
  return isTriangle ? 'triangle' : element.localName;
}

/** Each traversal of the page needs a new ShapeDetector, because a ShapeDetector caches its decisions. */
export class ShapeDetector {
  readonly #showsShapes = new Map<SVGSVGElement, boolean>();

  isShape(element: Element): boolean {
    if (!(element instanceof SVGGraphicsElement) || !ShapeTags.has(element.localName)) return false;
    const svgElement = element.ownerSVGElement;
    if (!svgElement || !hasSize(element)) return false;
    const hasShapes = this.#showsShapes.get(svgElement) ?? showsShapes(svgElement);
    this.#showsShapes.set(svgElement, hasShapes);
    return hasShapes;
  }
}

export function hasSize(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  return width > 0 || height > 0;
}

function showsShapes(svgElement: SVGSVGElement): boolean {
  if (svgElement.closest('a,button,label,[role=button],[role=link],[role=img],[aria-hidden=true]')) return false;
  const { width, height } = svgElement.getBoundingClientRect();
  if (width < MinDrawingPixels || height < MinDrawingPixels) return false;
  const count = svgElement.querySelectorAll([...ShapeTags].join()).length;
  return count <= MaxShapes && svgElement.querySelector(DrawingSelector) !== null;
}

/**
 * describeShape returns the ID, color, size and position of a shape, such as ' [fill=red] [20x20 at 5,5]'. If the role
 * in the snapshot line does not name the shape, describeShape adds the word for the shape.
 */
export function describeShape(element: Element, role: string): string {
  const svgElement = element instanceof SVGGraphicsElement ? element.ownerSVGElement : null;
  if (!svgElement) return '';
  const id = element.id !== '' && !element.id.includes(']') ? ` [id=${shorten(element.id, 40)}]` : '';
  const fill = element.getAttribute('fill') ?? '';
  const color = /^[\w#(),.% -]+$/.test(fill) && fill !== 'none' ? ` [fill=${shorten(fill, MaxColorCharacters)}]` : '';
  const [own, svgRect] = [element.getBoundingClientRect(), svgElement.getBoundingClientRect()];
  const size = `${Math.round(own.width)}x${Math.round(own.height)}`;
  const shapeName = getShapeName(element);
  const shapeMark = role === shapeName || !SimpleShapeTags.has(shapeName) ? '' : ` [shape=${shapeName}]`;
  return `${id}${shapeMark}${color} [${size} at ${Math.round(own.x - svgRect.x)},${Math.round(own.y - svgRect.y)}]`;
}

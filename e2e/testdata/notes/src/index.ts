import { definePlugin, defineTool, ToolError } from '@opentabs/sdk';
import { z } from 'zod';

/** readNotes returns the notes of the page, which a test reads from the attribute data-notes. */
function readNotes(): string[] {
  return z.array(z.string()).parse(JSON.parse(document.documentElement.dataset.notes ?? '[]'));
}

function writeNotes(notes: readonly string[]): void {
  document.documentElement.dataset.notes = JSON.stringify(notes);
}

const addNote = defineTool({
  name: 'add_note',
  description: 'Adds a note to the page and returns its place in the list of notes.',
  annotations: { destructiveHint: false },
  undo: { tool: 'remove_note', input: { place: '/result/place', text: '/input/text' } },
  input: z.object({ text: z.string().describe('The text of the note') }),
  output: z.object({ place: z.number().int() }),
  async handle({ text }) {
    const notes = readNotes();
    writeNotes([...notes, text]);
    return { place: notes.length };
  },
});

const removeNote = defineTool({
  name: 'remove_note',
  description: 'Removes a note from the page, if it still has the text.',
  annotations: { destructiveHint: true },
  input: z.object({
    place: z.number().int().describe('The place of the note in the list'),
    text: z.string().describe('The text of the note'),
  }),
  output: z.object({ removed: z.boolean() }),
  async handle({ place, text }) {
    const notes = readNotes();
    if (notes[place] !== text) throw ToolError.notFound(`there is no note "${text}" at ${place}`);
    writeNotes(notes.filter((_, i) => i !== place));
    return { removed: true };
  },
});

export default definePlugin({ tools: [addNote, removeNote], isReady: () => true });

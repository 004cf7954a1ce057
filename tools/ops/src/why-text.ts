import type { Sentence } from '@pitboss/contracts/objects/dossier'

/** The sentences of `explain` for a terminal, one a line, under the object that they speak of. */
export function whyText(title: string, sentences: readonly Sentence[]): string {
  return [title, ...sentences.map(({ text }) => `  ${text}`)].join('\n')
}

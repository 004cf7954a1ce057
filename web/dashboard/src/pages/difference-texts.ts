import { extraLineText } from '@pitboss/contracts/extra-line'
import type { differenceKinds, KeptDifference } from '@pitboss/contracts/objects/reconciliation'

export type DifferenceKind = (typeof differenceKinds)[number]

/** What a kind of difference is, and what it may come from. */
export const differenceTexts: Readonly<Record<DifferenceKind, { title: string; about: string }>> = {
  extra: {
    title: 'In your ledger, not in ours',
    about:
      'Your wallet moved money for something that we have not sent, or that it had refused. Look for another sender, or another environment.',
  },
  different: {
    title: 'In both, with other values',
    about: 'The wallet keeps another amount, currency, type or player than it has acknowledged.',
  },
  missing: {
    title: 'In ours, not in your ledger',
    about: 'The wallet has acknowledged it within the time, and the ledger lacks it. Is the ledger whole?',
  },
  duplicate: {
    title: 'Twice in your ledger',
    about: 'The same id has several lines. A repeated call must not move money again.',
  },
  unreadable: {
    title: 'Lines that could not be read',
    about: 'They were compared with nothing.',
  },
}

/** What differs, a line for each field. A difference that an earlier build kept has no words of its own. */
export function differenceWords({ kind, message, fields }: KeptDifference): readonly string[] {
  if (message !== null) return [message]
  if (kind === 'extra') return [extraLineText(fields)]
  if (kind === 'unreadable') return ['It could not be read.']
  return fields.map(
    ({ field, ours, theirs }) => `${field}: ours ${ours ?? 'none'}, yours ${theirs ?? 'none'}`,
  )
}

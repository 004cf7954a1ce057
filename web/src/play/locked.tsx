import type { GameDefinition } from './game-definition.ts'
import type { LockReason } from './table-state.ts'

const texts: Readonly<Record<LockReason, { title: string; text: string }>> = {
  'no-token': {
    title: 'Open the game again from your casino',
    text: 'For your safety this page keeps no key to your table: after a reload, or from a bookmark, it has to be opened from your casino again. A round that is still open waits for you there.',
  },
  'token-ended': {
    title: 'Your visit has ended',
    text: 'Open the game again from your casino. Every bet that you placed is settled, whether this page is open or not.',
  },
  'other-game': {
    title: 'This link belongs to another game',
    text: 'Open the game that you want to play again from your casino.',
  },
}

/** There is no valid launch link. */
export function Locked({ reason, definition }: { reason: LockReason | null; definition: GameDefinition }) {
  const { title, text } = texts[reason ?? 'no-token']
  return (
    <main class="notice-page">
      <img src={definition.icon} alt="" width="64" height="64" />
      <h1>{title}</h1>
      <p>{text}</p>
    </main>
  )
}

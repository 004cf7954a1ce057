import { moneyText } from '@pitboss/money/money-text'
import type { TableParts } from './game-definition.ts'
import { percentText } from './stake.ts'

/** Name, balance and the way back. */
export function GameHeader({ definition, state, sitting }: TableParts) {
  const { session, balance, game } = sitting
  return (
    <header class="top">
      <div class="brand">
        <img src={definition.icon} alt="" width="36" height="36" />
        <div>
          <h1>
            {definition.title} {session.environment === 'SANDBOX' ? <span class="tag">Test play</span> : null}
          </h1>
          <p class="quiet">Up to {percentText(game.rtp)} return to player</p>
        </div>
      </div>
      <div class="balance" data-changing={state.activity !== 'idle' ? 'yes' : 'no'}>
        <span class="label">Balance</span>
        <strong data-testid="balance">
          {balance === null ? 'not known right now' : moneyText(balance.amount, balance.currency)}
        </strong>
      </div>
      {session.return_url === null ? null : <ReturnLink href={session.return_url} />}
    </header>
  )
}

/** Leads out of an operator's frame as well. Only http and https addresses are followed. */
export function ReturnLink({ href, text = 'Leave' }: { href: string; text?: string }) {
  return /^https?:\/\//i.test(href) ? (
    <a class="button quiet-button leave" href={href} target="_top" rel="noreferrer">
      {text}
    </a>
  ) : null
}

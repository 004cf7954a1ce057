import { formatAmount } from '@pitboss/money/amount'
import { multiplyFloor, type Rational } from '@pitboss/money/rational'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Sitting } from '../api/records.ts'
import { type BetSlip, clientSeedProblem } from './bet-slip.ts'
import type { PlayfieldProps } from './game-definition.ts'
import { moneyText } from '@pitboss/money/money-text'
import { minorText, readDecimal } from './money-text.ts'
import { checkStake, clamp, returnText, stakeRange } from './stake.ts'
import { takesBets } from './table-state.ts'

type Props = PlayfieldProps & {
  /** Null while the game's own controls hold something that is no bet. */
  readonly bet: Readonly<Record<string, unknown>> | null
  /** The multipliers of the bet's wins, the smallest first. */
  readonly multipliers: readonly Rational[]
  readonly playLabel: string
  /** The payout of a win is shown for games of one draw. */
  readonly showsWin: boolean
  /** The game's own controls. */
  readonly children: ComponentChildren
}

/** Stake, the game's own controls and the button that places the bet. */
export function BetForm(props: Props) {
  const { table, state, sitting, slip, bet, multipliers, playLabel, showsWin, children } = props
  const field = useRef<HTMLInputElement>(null)
  const { currency } = sitting.session
  const range = stakeRange(sitting)
  const grant = slip.freeBet ? sitting.free_bets[0] : undefined
  const stakeText = grant?.stake ?? slip.stake
  const stake = checkStake(stakeText, currency, grant === undefined ? range : unlimited(range), multipliers)
  const pays = range === null || stake.minor === null || stake.problem !== null ? null : stake.minor
  const [winMultiplier] = multipliers
  const ready = takesBets(state)
  const grantsLeft = sitting.free_bets.length > 0
  // A grant that comes later is not used without being chosen.
  useEffect(() => {
    if (!grantsLeft) slip.setFreeBet(false)
  }, [grantsLeft])

  const place = (event: Event) => {
    event.preventDefault()
    if (stake.problem !== null || stake.minor === null) {
      field.current?.focus()
      return
    }
    if (!ready || bet === null || clientSeedProblem(slip.clientSeed) !== null) return
    void table.place({
      stake: formatAmount(stake.minor, currency),
      bet,
      client_seed: slip.clientSeed === '' ? null : slip.clientSeed,
      free_bet: grant !== undefined,
    })
  }

  const step = (change: (minor: bigint) => bigint) => {
    if (range === null) return
    slip.setStake(formatAmount(clamp(change(stake.minor ?? range.min), range), currency))
  }

  return (
    <form class="bet-form" onSubmit={place} noValidate>
      <div class="field">
        <label for="stake">Stake</label>
        <div class="stake-row">
          <div class="with-unit">
            <input
              ref={field}
              id="stake"
              type="text"
              inputMode="decimal"
              autocomplete="off"
              value={stakeText}
              readOnly={grant !== undefined}
              aria-invalid={stake.problem !== null}
              aria-describedby="stake-hint"
              onInput={(event) => slip.setStake(event.currentTarget.value)}
            />
            <span aria-hidden="true">{currency}</span>
          </div>
          <div class="steps-buttons" role="group" aria-label="Change the stake">
            <button type="button" disabled={grant !== undefined} onClick={() => step((minor) => minor / 2n)}>
              ½<span class="unseen"> halve the stake</span>
            </button>
            <button type="button" disabled={grant !== undefined} onClick={() => step((minor) => minor * 2n)}>
              2×<span class="unseen"> double the stake</span>
            </button>
          </div>
        </div>
        <p id="stake-hint" class={stake.problem === null ? 'quiet' : 'problem'}>
          {stake.problem ??
            (range === null
              ? ''
              : `${moneyText(formatAmount(range.min, currency), currency)} to ${minorText(range.max, currency)}`)}
        </p>
        {range === null || pays === null ? null : (
          <p class="quiet" data-testid="return">
            Return to player at this stake:{' '}
            {returnText(multipliers, readDecimal(sitting.game.rtp), {
              stake: pays,
              maxPayout: range.maxPayout,
            })}
          </p>
        )}
      </div>
      {sitting.free_bets.length === 0 ? null : <FreeBetSwitch sitting={sitting} slip={slip} />}
      {children}
      <button
        type="submit"
        class="button main-button"
        disabled={!ready || bet === null}
        data-busy={state.activity === 'placing' ? 'yes' : 'no'}
        data-testid="play"
      >
        <span>{playLabel}</span>
        {showsWin && pays !== null && winMultiplier !== undefined ? (
          <small>
            {grant === undefined ? '' : 'free bet, '}wins{' '}
            {minorText(multiplyFloor(pays, winMultiplier), currency)}
          </small>
        ) : grant === undefined ? null : (
          <small>free bet</small>
        )}
      </button>
    </form>
  )
}

function FreeBetSwitch({ sitting, slip }: { sitting: Sitting; slip: BetSlip }) {
  const [grant] = sitting.free_bets
  if (grant === undefined) return null
  return (
    <label class="switch">
      <input
        type="checkbox"
        checked={slip.freeBet}
        onChange={(event) => slip.setFreeBet(event.currentTarget.checked)}
      />
      <span>
        Use a free bet
        <small class="quiet">
          {grant.remaining} left at {moneyText(grant.stake, sitting.session.currency)}
        </small>
      </span>
    </label>
  )
}

/** A free bet's stake was held against the limits when it was granted. */
function unlimited(range: ReturnType<typeof stakeRange>): ReturnType<typeof stakeRange> {
  return range === null ? null : { ...range, min: 0n, max: range.maxPayout }
}

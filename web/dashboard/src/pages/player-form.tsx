import { gameSchema } from '@pitboss/contracts/objects/game'
import { pageOf } from '@pitboss/contracts/primitives'
import { useRead } from '../hooks/use-read.ts'
import { Field } from '../parts/field.tsx'
import { textOf } from '../parts/text-of.ts'
import { useDashboard } from '../session/dashboard-context.ts'

const gamesPage = pageOf(gameSchema)

type PlayerFormProps = {
  readonly playerId: string
  /** Undefined: the page is about no game. */
  readonly game?: string | undefined
  readonly onChoose: (chosen: Readonly<Record<string, string>>) => void
}

/** Chooses the player that the page is about, and the game. */
export function PlayerForm({ playerId, game, onChoose }: PlayerFormProps) {
  return (
    <form
      className="filters"
      role="search"
      aria-label="Player"
      onSubmit={(event) => {
        event.preventDefault()
        const data = new FormData(event.currentTarget)
        const chosen = { player_id: textOf(data, 'player_id') }
        onChoose(game === undefined ? chosen : { ...chosen, game: textOf(data, 'game') })
      }}
    >
      <Field label="Player">
        <input
          key={playerId}
          type="search"
          name="player_id"
          defaultValue={playerId}
          maxLength={128}
          autoComplete="off"
          spellCheck={false}
          required
        />
      </Field>
      {game !== undefined && <GameField game={game} />}
      <button type="submit" className="button main-button">
        Show
      </button>
    </form>
  )
}

/** The games of the account, by name. */
export function GameField({ game, fault }: { game: string; fault?: string | undefined }) {
  const { environment } = useDashboard()
  const read = useRead(gamesPage, 'dashboard/games', { environment, limit: '200' })
  const games = read.data?.data.map(({ slug, name }) => ({ slug, name })) ?? []
  const known = game === '' || games.some(({ slug }) => slug === game)
  const options = known ? games : [{ slug: game, name: game }, ...games]
  return (
    <Field label="Game" fault={fault}>
      <select key={`${game} ${options.length}`} name="game" defaultValue={game} required>
        {options.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  )
}

import '../styles/base.css'
import '../styles/play.css'
import { render } from 'preact'
import { createGameApi } from '../api/game-api.ts'
import { takeLaunchToken } from '../api/launch-token.ts'
import { createTable, type Table } from './create-table.ts'
import type { GameDefinition } from './game-definition.ts'
import { GamePage } from './game-page.tsx'

/** Puts the game into the page; a new launch link in the same tab starts a new sitting. */
export function startGame(definition: GameDefinition): void {
  const root = document.getElementById('app')
  if (root === null) throw new Error('the page has no place for the game')
  document.documentElement.dataset.game = definition.slug
  let table = sitDown(definition, root, takeLaunchToken(), 0)
  let sittings = 0
  window.addEventListener('hashchange', () => {
    const token = takeLaunchToken()
    if (token === null) return
    table.leave()
    sittings += 1
    table = sitDown(definition, root, token, sittings)
  })
}

function sitDown(definition: GameDefinition, root: HTMLElement, token: string | null, key: number): Table {
  const { slug, revealMs } = definition
  const api = token === null ? null : createGameApi(token)
  const table = createTable({ api, slug, revealMs })
  render(<GamePage key={key} definition={definition} table={table} />, root)
  void table.open()
  return table
}

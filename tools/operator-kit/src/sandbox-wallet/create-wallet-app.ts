import type { FastifyInstance } from 'fastify'
import { createRawApp } from '../shared/raw-app.ts'
import { createAnswerCall, createCallLog } from './answer-call.ts'
import { addControlRoutes } from './control-routes.ts'
import { createFaultPlan } from './faults.ts'
import { openWallet } from './open-wallet.ts'

export type WalletAppOptions = {
  dataDir: string
  secret: string
  /** Decimal string, cut to the currency's decimals. */
  startingBalance: string
  /** Seed of the faults by probability. */
  seed: number
  /** Called when a new secret is set over HTTP, before it counts. */
  storeSecret?: (secret: string) => Promise<void>
  now?: () => Date
}

/** The sandbox wallet as an app that is not listening yet; closing the app closes its ledger. */
export async function createWalletApp(options: WalletAppOptions): Promise<FastifyInstance> {
  const { dataDir, startingBalance, seed, storeSecret, now = () => new Date() } = options
  let { secret } = options
  const wallet = await openWallet({ dataDir, startingBalance, now })
  const faults = createFaultPlan(seed)
  const calls = createCallLog()
  const app = createRawApp()
  app.addHook('onClose', () => wallet.close())
  const answerCall = createAnswerCall({ wallet, faults, calls, secret: () => secret, now })
  for (const operation of ['balance', 'debit', 'credit', 'rollback'] as const) {
    app.post(`/${operation}`, (request, reply) => answerCall(operation, request, reply))
  }
  addControlRoutes(app, {
    wallet,
    faults,
    calls,
    async setSecret(next) {
      await storeSecret?.(next)
      secret = next
    },
  })
  app.get('/sandbox', async (_request, reply) => reply.type('text/html; charset=utf-8').send(walletPage))
  return app
}

/**
 * The sandbox wallet's page: players, the last movements and calls, and the faults in force. Reads the JSON
 * routes.
 */
const walletPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sandbox wallet</title>
<style>
  body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1c2430; background: #fbfbfa }
  h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2rem }
  table { border-collapse: collapse; width: 100%; font-size: 0.85rem } th, td { text-align: left; padding: 0.25rem 0.6rem; border-bottom: 1px solid #dde1e6 }
  td.number { text-align: right; font-variant-numeric: tabular-nums } code { font-size: 0.85em }
  textarea { width: 100%; font-family: monospace } button { padding: 0.35rem 0.9rem }
</style>
</head>
<body>
<h1>Sandbox wallet</h1>
<p>Speaks the wallet contract and forgets nothing. Data: <a href="/sandbox/players">players</a>, <a href="/sandbox/ledger">ledger</a>,
<a href="/sandbox/calls?latest=true">calls</a>, <a href="/sandbox/faults">faults</a>.</p>
<h2>Players</h2><table id="players"></table>
<h2>Faults in force</h2>
<form id="faults"><label for="rules">Rules as JSON</label><textarea id="rules" rows="5"></textarea>
<button>Put into force</button> <button type="button" id="clear">Clear</button> <output id="answer"></output></form>
<h2>Last movements</h2><table id="ledger"></table>
<h2>Last calls</h2><table id="calls"></table>
<script type="module">
const fill = (id, names, rows) => {
  const table = document.getElementById(id)
  const head = document.createElement('tr')
  head.append(...names.map((name) => Object.assign(document.createElement('th'), { textContent: name.replaceAll('_', ' ') })))
  table.replaceChildren(head, ...rows.map((row) => {
    const line = document.createElement('tr')
    line.append(...names.map((name) => Object.assign(document.createElement('td'), { textContent: row[name] ?? '', className: /amount|effect|balance_after/.test(name) ? 'number' : '' })))
    return line
  }))
}
const get = async (path) => (await fetch(path)).json()
const show = async () => {
  const [players, ledger, calls] = await Promise.all(['players', 'ledger?latest=true&limit=25', 'calls?latest=true&limit=25'].map((path) => get('/sandbox/' + path)))
  fill('players', ['player_id', 'code', 'balances'], players.data.map((player) => ({ ...player, balances: Object.entries(player.balances).map(([code, balance]) => balance + ' ' + code).join(', ') })))
  fill('ledger', ['at', 'operation', 'type', 'player_id', 'amount', 'currency', 'effect', 'balance_after', 'status', 'transaction_id'], ledger.data)
  fill('calls', ['at', 'operation', 'player_id', 'transaction_id', 'http_status', 'status', 'fault', 'duration_ms'], calls.data)
}
const rules = document.getElementById('rules')
const answer = document.getElementById('answer')
rules.value = JSON.stringify(await get('/sandbox/faults'), null, 1)
document.getElementById('faults').addEventListener('submit', async (event) => {
  event.preventDefault()
  const parsed = JSON.parse(rules.value)
  for (const rule of parsed.rules) { delete rule.matched; delete rule.fired }
  const put = await fetch('/sandbox/faults', { method: 'PUT', body: JSON.stringify(parsed) })
  answer.textContent = put.ok ? 'in force' : (await put.json()).message
})
document.getElementById('clear').addEventListener('click', async () => {
  await fetch('/sandbox/faults', { method: 'DELETE' })
  rules.value = JSON.stringify(await get('/sandbox/faults'), null, 1)
  answer.textContent = 'cleared'
})
await show()
setInterval(show, 2000)
</script>
</body>
</html>
`

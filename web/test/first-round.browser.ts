import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '@pitboss/engines/processes/free-port'
import { send } from '@pitboss/testing/operator-client'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { shownOnce, signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

/**
 * A new account comes to its first round by what its pages say alone. The operator's server does what the
 * pages show: it runs their commands and programs as they stand, with the secrets that they have shown.
 */
t.setTimeout(300_000)
const casino = await startCasino(t)
const folder = mkdtempSync(join(tmpdir(), 'first-round-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const wallet = fileURLToPath(new URL('../../tools/operator-kit/src/sandbox-wallet/main.ts', import.meta.url))
const madeSchema = z.object({ dashboard: z.object({ email: z.string(), password: z.string() }) })
const withinMs = 5 * 60_000

t.test('an empty account comes to its first round by its pages alone', async (t) => {
  const made = await casino.ops('operator', 'create', '--name', 'New', '--email', 'new@casino.example')
  const { dashboard: person } = madeSchema.parse(made)
  const beganAt = performance.now()
  const { page, complaints, close } = await casino.window()
  await page.goto(`${casino.baseUrl}/dashboard`)
  await signIn(page, person, 'Choose a password of your own')
  await page.getByLabel('Current password').fill(person.password)
  await page.getByLabel('New password').fill('a sentence of my own')
  await page.getByRole('button', { name: 'Change password' }).click()
  const steps = page.getByRole('region', { name: 'First steps' })
  await page.getByText('no wallet is set up yet').waitFor()
  const follow = async (step: string) => {
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await steps.waitFor()
    t.strictSame(await findBarriers(page), [], 'Home')
    await steps.getByRole('link', { name: step }).click()
  }

  await follow('Create a key')
  await page.getByRole('button', { name: 'Create key' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Name').fill('Casino server')
  await form.getByRole('button', { name: 'Create key' }).click()
  const key = (await page.getByTestId('secret').first().textContent()) ?? ''
  const secret = await shownOnce(t, page)

  await follow('Set up the wallet')
  const sandbox = await startProgram(t, [wallet], {
    ...{ WALLET_PORT: '0', WALLET_DATA_DIR: folder, WALLET_SECRET: 'not known before the URL is saved' },
  })
  const { port } = z.object({ port: z.number() }).parse(JSON.parse(sandbox))
  t.match(await snippetOf(page, 'No wallet of your own yet? Begin with the sandbox wallet'), /WALLET_SECRET=/)
  t.strictSame(await findBarriers(page), [], 'Wallet')
  await casino.picture(page, 'first-round-wallet')
  await page.getByRole('button', { name: 'Set up the wallet' }).click()
  const address = `http://127.0.0.1:${port}`
  await form.getByLabel('URL').fill(address)
  await form.getByRole('button', { name: 'Save' }).click()
  const told = await send('PUT', `${address}/sandbox/secret`, { body: { secret: await shownOnce(t, page) } })
  t.equal(told.status, 204, 'the wallet has the secret')
  await page.getByRole('button', { name: 'Check the wallet' }).click()
  await page.getByText('The wallet answers as it should.').waitFor()
  await page.getByRole('button', { name: 'Certify' }).click()
  await form.getByRole('button', { name: 'Certify', exact: true }).click()
  await page.getByText('The wallet is certified.').waitFor({ timeout: 90_000 })

  await follow('Create an endpoint')
  const receiverPort = await freePort()
  const program = await snippetOf(page, 'A receiver that verifies signatures, in Node')
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await form.getByLabel('URL').fill(`http://127.0.0.1:${receiverPort}/hooks`)
  await form.getByLabel('Description').fill('First receiver')
  await form.getByRole('button', { name: 'Create endpoint' }).click()
  const signingSecret = await shownOnce(t, page)
  const file = join(folder, 'receiver.mjs')
  writeFileSync(file, program)
  const firstEvent = startProgram(t, [file], {
    ...{ WEBHOOK_SECRET: signingSecret, PORT: String(receiverPort) },
  })
  const receiver = `http://127.0.0.1:${receiverPort}/hooks`
  const unsigned = async () => (await send('POST', receiver, { body: {} })).status
  await waitFor(async () => (await unsigned()) === 401, { what: 'the receiver refuses what is not signed' })
  await page.getByRole('heading', { name: 'First receiver' }).waitFor()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Test delivered: the receiver answered 204.').waitFor()
  t.match(await firstEvent, /^webhook\.test \{/, 'it has verified the signature')
  await page.locator('button:enabled', { hasText: 'Send test' }).waitFor()
  t.strictSame(await findBarriers(page), [], 'Endpoint')

  await follow('Play the first round')
  await page.getByRole('heading', { name: 'Rounds', level: 1 }).waitFor()
  const commands = await snippetOf(page, 'Open a session from a shell')
  t.notMatch(commands, secret, 'no secret is in it')
  t.strictSame(await findBarriers(page), [], 'Rounds')
  await casino.picture(page, 'first-round-commands')
  const answer = await runShell(commands, { PITBOSS_KEY: key, PITBOSS_SECRET: secret })
  const { launch_url } = z.object({ launch_url: z.string() }).parse(JSON.parse(answer))
  const player = await casino.window()
  await player.page.goto(launch_url)
  await player.page.getByTestId('play').click()
  await player.page.getByTestId('verify-last').waitFor()
  t.strictSame(player.complaints, [])
  await player.close()

  await page.reload()
  await page.getByRole('table', { name: 'Rounds' }).getByRole('link').first().click()
  await page.getByText('VERIFIED').waitFor()
  await page.getByRole('link', { name: 'Home', exact: true }).click()
  await page.getByRole('table', { name: 'Last 24 hours' }).waitFor()
  t.equal(await steps.count(), 0, 'no step is open')
  const tookMs = performance.now() - beganAt
  t.ok(tookMs <= withinMs, `${Math.round(tookMs / 1000)} s`)
  t.strictSame(complaints, [])
  await close()
})

/** The text of a fold of the page, opened as a reader does; a telephone shows all of its width. */
async function snippetOf(page: Page, title: string): Promise<string> {
  await page.locator('summary').filter({ hasText: title }).click()
  const size = page.viewportSize()
  await page.setViewportSize({ width: 360, height: 900 })
  const wider = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  if (wider !== 0) throw new Error(`${title} is wider than 360 px by ${String(wider)}`)
  if (size !== null) await page.setViewportSize(size)
  return (await page.locator(`pre[aria-label="${title}"]`).textContent()) ?? ''
}

/** A program of the operator's server; resolves with its first line. */
async function startProgram(
  suite: { teardown(fn: () => void): void },
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  suite.teardown(() => child.kill())
  const [line] = await once(createInterface(child.stdout), 'line')
  return String(line)
}

async function runShell(script: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn('sh', ['-c', script], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(child, 'close')
  return Buffer.concat(chunks).toString('utf8')
}

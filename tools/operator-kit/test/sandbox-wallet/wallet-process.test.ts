import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { movementBody, postSigned } from '../fixtures/wallet-client.ts'

const MAIN = fileURLToPath(new URL('../../src/sandbox-wallet/main.ts', import.meta.url))

async function startProcess(
  t: Test,
  env: Record<string, string>,
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  for await (const line of createInterface(child.stdout)) {
    return { child, url: `http://127.0.0.1:${JSON.parse(line).port}` }
  }
  throw new Error('the wallet ended before it was ready')
}

await t.test('kill -9 under load loses no answered movement and applies no repeated one twice', async (t) => {
  const env = {
    WALLET_DATA_DIR: t.testdir(),
    WALLET_SECRET: 'wallet-secret',
    WALLET_STARTING_BALANCE: '100000',
  }
  const sent: string[] = []
  const answered = new Set<string>()
  for (let life = 0; life < 3; life++) {
    const { child, url } = await startProcess(t, env)
    const ended = new Promise((resolve) => child.once('close', resolve))
    const senders = Array.from({ length: 8 }, async () => {
      for (let count = 0; count < 200 && child.exitCode === null && child.signalCode === null; count++) {
        const transactionId = `bet_${sent.length}`
        sent.push(transactionId)
        try {
          const answer = await postSigned(
            `${url}/debit`,
            movementBody('debit', { transactionId, playerId: 'p1', amount: '1.00' }),
          )
          if (answer.status === 'OK') answered.add(transactionId)
        } catch {
          return
        }
        if (answered.size >= (life + 1) * 60) child.kill('SIGKILL')
      }
    })
    await Promise.all(senders)
    await ended
  }
  const { url } = await startProcess(t, env)
  let missing = 0
  for (const transactionId of sent) {
    const body = movementBody('debit', { transactionId, playerId: 'p1', amount: '1.00' })
    const { status } = await postSigned(`${url}/debit`, body)
    if (status === 'OK' && answered.has(transactionId)) missing += 1
  }
  t.equal(missing, 0, 'every answered movement was known again')
  t.ok(answered.size >= 180)
  const question = JSON.stringify({ playerId: 'p1', currency: 'USD' })
  t.match(await postSigned(`${url}/balance`, question), { balance: `${100_000 - sent.length}.00` })
})

await t.test('it ends in good order when its supervisor is gone', async (t) => {
  const env = { ...process.env, WALLET_DATA_DIR: t.testdir(), WALLET_SECRET: 'wallet-secret' }
  const child = fork(MAIN, { env, silent: true })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  if (child.stdout !== null) await once(child.stdout, 'data')
  child.disconnect()
  t.strictSame(await ended, [0, null])
})

await t.test('a bad environment ends the process with code 78 and names the variable', async (t) => {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, WALLET_PORT: 'x' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += String(chunk)
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  t.equal(code, 78)
  t.match(said, /WALLET_PORT[\s\S]*WALLET_DATA_DIR/)
})

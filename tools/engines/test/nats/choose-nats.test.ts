import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { noProgress } from '../../src/fetch/progress.ts'
import { chooseNats } from '../../src/nats/choose-nats.ts'

/** A folder with a program of that version, and one with what the cache would hold. */
function machine(t: { testdir: typeof import('tap').t.testdir }, version: string | null) {
  const says = (text: string) => `#!/bin/sh\necho "nats-server: v${text}"\n`
  const cached = `nats-server-2.14.0-${process.platform}-${process.arch}`
  const folder = t.testdir({
    bin: version === null ? {} : { 'nats-server': says(version) },
    cache: { [cached]: { 'nats-server': says('2.14.0') } },
  })
  if (version !== null) chmodSync(join(folder, 'bin/nats-server'), 0o755)
  return {
    PATH: `${join(folder, 'bin')}:/nowhere`,
    folder,
    cacheDir: join(folder, 'cache'),
    cached: join(folder, 'cache', cached, 'nats-server'),
  }
}

await t.test('the URL comes before everything', async (t) => {
  const { PATH, cacheDir } = machine(t, '2.15.1')
  const choice = await chooseNats({ env: { PATH, NATS_URL: 'nats://a:1' }, cacheDir, progress: noProgress })
  t.strictSame(choice, { kind: 'external', url: 'nats://a:1', reason: 'NATS_URL is set' })
})

await t.test('then the program on the PATH', async (t) => {
  const { PATH, cacheDir, folder } = machine(t, '2.10.3')
  const choice = await chooseNats({ env: { PATH }, cacheDir, progress: noProgress })
  t.match(choice, { kind: 'nats-server', program: join(folder, 'bin/nats-server'), reason: /on|the PATH/ })
})

await t.test('one that is too old is refused with a sentence, and what was fetched is used', async (t) => {
  const { PATH, cacheDir, cached } = machine(t, '2.9.10')
  const said: string[] = []
  const progress = { ...noProgress, step: (text: string) => said.push(text) }
  const choice = await chooseNats({ env: { PATH }, cacheDir, progress })
  t.match(choice, {
    kind: 'release',
    program: cached,
    reason: /on the PATH is unusable; the official release, from the cache/,
  })
  t.match(said[0], /is version 2.9.10, at least 2.10.0 is needed/)
})

await t.test('a program that was named is used or is an error, never replaced', async (t) => {
  const { PATH, cacheDir, folder } = machine(t, '2.9.10')
  const named = join(folder, 'bin/nats-server')
  await t.rejects(chooseNats({ env: { PATH, NATS_SERVER_BIN: named }, cacheDir, progress: noProgress }), {
    message: /^NATS_SERVER_BIN cannot be used: .*is version 2.9.10/,
    exitCode: 78,
  })
  const gone = join(folder, 'gone')
  await t.rejects(chooseNats({ env: { PATH, NATS_SERVER_BIN: gone }, cacheDir, progress: noProgress }), {
    name: 'EngineError',
    message: /NATS_SERVER_BIN is set to .*gone, which is no program/,
    exitCode: 78,
  })
})

await t.test('on a machine without anything the cache is used without any network', async (t) => {
  const { PATH, cacheDir, cached } = machine(t, null)
  const choice = await chooseNats({ env: { PATH }, cacheDir, progress: noProgress })
  t.match(choice, { kind: 'release', program: cached, reason: /no nats-server on the PATH/ })
})

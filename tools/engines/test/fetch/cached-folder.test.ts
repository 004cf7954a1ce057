import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cachedFolder } from '../../src/fetch/cached-folder.ts'
import { comparePrograms } from '../../src/fetch/verify-programs.ts'
import { noProgress } from '../../src/fetch/progress.ts'

function maker(cacheDir: string) {
  let made = 0
  return {
    made: () => made,
    get: (fail?: Error) =>
      cachedFolder({
        cacheDir,
        name: 'engine-1',
        freeBytesMin: 1,
        progress: noProgress,
        make: async (folder) => {
          made += 1
          writeFileSync(join(folder, 'program'), 'whole')
          if (fail !== undefined) throw fail
        },
      }),
  }
}

/** As the next process finds the folder. @returns what is wrong with it, or null */
const lookAgain = (folder: string) =>
  comparePrograms(folder).then(
    () => null,
    (error: Error) => error.message,
  )

await t.test('starters at the same time make the folder once, and all get the whole of it', async (t) => {
  const { made, get } = maker(join(t.testdir({}), 'cache'))
  const folders = await Promise.all(Array.from({ length: 8 }, () => get()))
  t.equal(made(), 1)
  for (const folder of folders) t.equal(readFileSync(join(folder, 'program'), 'utf8'), 'whole')
})

await t.test('a failed attempt leaves nothing behind, and the next one begins anew', async (t) => {
  const cacheDir = t.testdir({})
  const { made, get } = maker(cacheDir)
  await t.rejects(get(new Error('broken off')), /broken off/)
  t.strictSame(readdirSync(cacheDir), [])
  await get()
  t.equal(made(), 2)
})

await t.test('what a killed starter left half-made is removed, and its lock is no obstacle', async (t) => {
  const cacheDir = t.testdir({
    'engine-1.making-4194999': { program: 'ha' },
    'engine-1.lock': '4194999 12345\n',
  })
  const folder = await maker(cacheDir).get()
  t.equal(readFileSync(join(folder, 'program'), 'utf8'), 'whole')
  t.strictSame(readdirSync(cacheDir), ['engine-1'])
})

await t.test('a disk without room is named, with what is needed', async (t) => {
  const cacheDir = t.testdir({})
  const making = cachedFolder({
    cacheDir,
    name: 'x',
    freeBytesMin: 1e18,
    progress: noProgress,
    make: async () => {},
  })
  await t.rejects(making, { name: 'EngineError', message: /MB free, 1000000000000 MB are needed/ })
  const full = Object.assign(new Error('write'), { code: 'ENOSPC' })
  await t.rejects(maker(cacheDir).get(full), { message: /the disk of the cache folder .* is full/ })
})

await t.test('a cache folder that cannot be made is a sentence that names the variable', async (t) => {
  const cacheDir = join(t.testdir({ file: '' }), 'file', 'cache')
  t.notOk(existsSync(cacheDir))
  await t.rejects(maker(cacheDir).get(), { name: 'EngineError', message: /set PITBOSS_CACHE_DIR/ })
  const blocked = t.testdir({})
  mkdirSync(join(blocked, 'engine-1.lock'))
  await t.rejects(maker(blocked).get(), { name: 'EngineError', message: /cannot be written/ })
})

await t.test('a program that was changed since it was fetched is found before it runs', async (t) => {
  const cacheDir = t.testdir({})
  const make = async (folder: string) => {
    writeFileSync(join(folder, 'program'), 'whole', { mode: 0o755 })
    writeFileSync(join(folder, 'library.so.1'), 'whole')
    writeFileSync(join(folder, 'data'), 'anything')
  }
  const get = () => cachedFolder({ cacheDir, name: 'engine-2', freeBytesMin: 1, progress: noProgress, make })
  const folder = await get()
  const list = readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
  t.match(list, /^[0-9a-f]{64}  library\.so\.1\n[0-9a-f]{64}  program\n$/)
  writeFileSync(join(folder, 'data'), 'something else')
  t.strictSame(await lookAgain(folder), null)
  writeFileSync(join(folder, 'program'), 'changed')
  t.match(await lookAgain(folder), /engine-2\/program is not what was fetched.*engines -- clean/)
  writeFileSync(join(folder, 'program'), 'whole')
  writeFileSync(join(folder, 'more.so'), 'added')
  t.match(await lookAgain(folder), /engine-2\/more\.so is not/)
  rmSync(join(folder, 'more.so'))
  rmSync(join(folder, 'library.so.1'))
  t.match(await lookAgain(folder), /library\.so\.1 is not/)
  writeFileSync(join(folder, 'library.so.1'), 'whole')
  t.equal(await lookAgain(folder), null)
  rmSync(join(folder, 'SHA256SUMS'))
  t.equal(await lookAgain(folder), null, 'a cache of an earlier release')
  t.equal(readFileSync(join(folder, 'SHA256SUMS'), 'utf8'), list)
})

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { EngineError } from '../engine-error.ts'
import { looksLikeHome, missingLibraries } from '../fetch/missing-libraries.ts'
import {
  type DebianPackage,
  type PrivateApt,
  removePackageFiles,
  withPrivateApt,
} from '../fetch/private-apt.ts'
import type { Progress } from '../fetch/progress.ts'
import { runProgram } from '../fetch/run-program.ts'
import { postgresFiles, programPackages } from './postgres-files.ts'

/**
 * The libraries as the suite names them today, so that one download fetches all. A name that the suite has
 * renamed is left out here and found through the dependencies of what was unpacked.
 */
const libraryPackages = words(`
  libpq5 libbson2-2 libpcre2-8-0 libc6 libicu78 libssl3t64 libzstd1 liblz4-1 libxxhash0 libxml2-16
  zlib1g libpam0g libaudit1 libcap-ng0 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0
  libcom-err2 libkeyutils1 libldap2 libsasl2-2 libnuma1 liburing2 libsystemd0 libgcc-s1 libstdc++6
`)

const resolveRoundsMax = 4

/** Modules that the server loads. */
const modules = words(`
  pg_documentdb.so pg_documentdb_core.so pg_documentdb_extended_rum.so pg_cron.so
  vector.so plpgsql.so dict_snowball.so
`)

/** Files that a running server never reads: half of the unpacked ones. */
const unused = words(`
  usr/lib/postgresql/18/lib/bitcode usr/share/doc usr/share/man usr/share/locale
  usr/share/postgresql/18/man usr/share/gdb usr/share/lintian etc var
`)

/**
 * Fetches PostgreSQL with DocumentDB and unpacks it into `folder`, ready to run from wherever that is moved.
 */
export async function fetchPostgres(folder: string, cacheDir: string, progress: Progress): Promise<void> {
  const files = postgresFiles(folder)
  await withPrivateApt({ cacheDir, progress }, async (apt) => {
    const known = await apt.known(programPackages)
    const missing = programPackages.filter((name) => !known.includes(name))
    if (missing.length > 0) throw new EngineError(`the Debian mirror has no package ${missing.join(', ')}`)
    const first = await apt.download([...programPackages, ...(await apt.known(libraryPackages))])
    progress.step('unpacking PostgreSQL with DocumentDB')
    await unpack(first, files.root)
    await addMissingLibraries(apt, first, files, progress)
    removePackageFiles(cacheDir)
  })
  for (const path of [...unused, `${files.libraryFolder}/gconv`]) {
    rmSync(join(files.root, path.replace(`${files.root}/`, '')), { recursive: true, force: true })
  }
  writePostgisStub(files.extensionFolder)
  for (const program of ['postgres', 'initdb']) wrap(files, program)
}

async function unpack(packages: DebianPackage[], root: string): Promise<void> {
  mkdirSync(root, { recursive: true, mode: 0o755 })
  for (const { file } of packages) await runProgram('dpkg-deb', ['-x', file, root])
}

async function addMissingLibraries(
  apt: PrivateApt,
  unpacked: DebianPackage[],
  files: ReturnType<typeof postgresFiles>,
  progress: Progress,
): Promise<void> {
  const names = unpacked.map(({ name }) => name)
  for (let round = 0; round < resolveRoundsMax; round++) {
    const missing = missingLibraries(loadedFiles(files), [files.libraryFolder, files.moduleFolder])
    if (missing.length === 0) return
    progress.step(`finding the packages of ${missing.join(', ')}`)
    const candidates = (await apt.libraryDependencies(names)).filter((name) => !names.includes(name))
    const likely = candidates.filter((name) => missing.some((library) => looksLikeHome(name, library)))
    const chosen = likely.length > 0 ? likely : candidates
    if (chosen.length === 0) break
    const more = await apt.download(chosen)
    await unpack(more, files.root)
    names.push(...more.map(({ name }) => name))
  }
  const missing = missingLibraries(loadedFiles(files), [files.libraryFolder, files.moduleFolder])
  if (missing.length > 0) throw new EngineError(`no Debian package was found for ${missing.join(', ')}`)
}

function loadedFiles(files: ReturnType<typeof postgresFiles>): string[] {
  const programs = ['postgres', 'initdb'].map((name) => join(files.programFolder, name))
  return [...programs, ...modules.map((name) => join(files.moduleFolder, name))].filter((file) =>
    existsSync(file),
  )
}

function writePostgisStub(extensionFolder: string): void {
  for (const name of readdirSync(extensionFolder)) {
    if (/^postgis.*--(ANY|TEMPLATED)/.test(name)) rmSync(join(extensionFolder, name))
  }
  writeFileSync(
    join(extensionFolder, 'postgis.control'),
    "comment = 'types only'\ndefault_version = '0'\nrelocatable = true\n",
  )
  writeFileSync(join(extensionFolder, 'postgis--0.sql'), postgisStub)
}

/**
 * The suite's programs need a newer C library than the machine has: a wrapper runs them through the loader
 * and the libraries that came with them. (Not LD_LIBRARY_PATH, which the machine's own programs would
 * inherit.)
 */
function wrap(files: ReturnType<typeof postgresFiles>, program: string): void {
  const path = join(files.programFolder, program)
  renameSync(path, `${path}.bin`)
  const up = files.programFolder.replace(files.root, '')
  const inRoot = (folder: string) => `$R${folder.replace(files.root, '')}`
  const lines = [
    '#!/bin/sh',
    'D=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)',
    `R=\${D%${up}}`,
    `exec "${inRoot(files.loader)}" --library-path "${inRoot(files.moduleFolder)}:${inRoot(files.libraryFolder)}" --argv0 "$D/${program}" "$D/${program}.bin" "$@"`,
  ]
  writeFileSync(path, `${lines.join('\n')}\n`)
  chmodSync(path, 0o755)
  if (!existsSync(files.loader)) copyFileSync(join(files.root, files.loaderName), files.loader)
}

const byteTypes = ['geometry', 'geography', 'box2d', 'gidx']

const supportFunctions = [
  'geometry_gist_union_2d(bytea, internal) RETURNS internal',
  'geometry_gist_decompress_2d(internal) RETURNS internal',
  'geometry_gist_penalty_2d(internal, internal, internal) RETURNS internal',
  'geometry_gist_picksplit_2d(internal, internal) RETURNS internal',
  'geometry_gist_same_2d(geom1 geometry, geom2 geometry, internal) RETURNS internal',
  'geography_gist_union(bytea, internal) RETURNS internal',
  'geography_gist_decompress(internal) RETURNS internal',
  'geography_gist_penalty(internal, internal, internal) RETURNS internal',
  'geography_gist_picksplit(internal, internal) RETURNS internal',
  'geography_gist_same(box2d, box2d, internal) RETURNS internal',
]

/**
 * DocumentDB declares PostGIS as a dependency for its geographic indexes, which nothing here uses. These
 * types and signatures satisfy the declaration; the real one would double the download.
 */
const postgisStub = [
  ...byteTypes.map((name) => typeSql(name, '')),
  typeSql('box2df', ', internallength = 16'),
  ...supportFunctions.map(
    (signature) => `CREATE FUNCTION ${signature} LANGUAGE internal AS 'gist_box_union';`,
  ),
  '',
].join('\n')

function typeSql(name: string, more: string): string {
  return [
    `CREATE FUNCTION ${name}_in(cstring) RETURNS ${name} LANGUAGE internal IMMUTABLE STRICT AS 'byteain';`,
    `CREATE FUNCTION ${name}_out(${name}) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';`,
    `CREATE TYPE ${name} (input = ${name}_in, output = ${name}_out${more});`,
  ].join('\n')
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}

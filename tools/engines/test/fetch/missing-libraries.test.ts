import t from 'tap'
import { elfNeeded, looksLikeHome, missingLibraries } from '../../src/fetch/missing-libraries.ts'
import { fileURLToPath } from 'node:url'

/** A 64-bit ELF with one loaded segment at address 0x1000 and a dynamic section that needs `names`. */
function elf(names: string[]): Buffer {
  const strings = Buffer.from(`\0${names.join('\0')}\0`)
  const dynamicAt = 64 + 2 * 56
  const dynamic = Buffer.alloc((names.length + 2) * 16)
  const stringsAt = dynamicAt + dynamic.length
  const total = stringsAt + strings.length
  let name = 1
  for (const [index, text] of names.entries()) {
    dynamic.writeBigInt64LE(1n, index * 16)
    dynamic.writeBigUInt64LE(BigInt(name), index * 16 + 8)
    name += text.length + 1
  }
  dynamic.writeBigInt64LE(5n, names.length * 16)
  dynamic.writeBigUInt64LE(BigInt(0x1000 + stringsAt), names.length * 16 + 8)
  const header = Buffer.alloc(64)
  header.write('\x7fELF\x02\x01', 'latin1')
  header.writeBigUInt64LE(64n, 32)
  header.writeUInt16LE(56, 54)
  header.writeUInt16LE(2, 56)
  const segment = (type: number, offset: number, size: number) => {
    const entry = Buffer.alloc(56)
    entry.writeUInt32LE(type, 0)
    entry.writeBigUInt64LE(BigInt(offset), 8)
    entry.writeBigUInt64LE(BigInt(0x1000 + offset), 16)
    entry.writeBigUInt64LE(BigInt(size), 32)
    return entry
  }
  return Buffer.concat([
    header,
    segment(1, 0, total),
    segment(2, dynamicAt, dynamic.length),
    dynamic,
    strings,
  ])
}

await t.test('reads which libraries a program needs', async (t) => {
  const folder = t.testdir({ program: elf(['libxml2.so.16', 'libc.so.6']), script: '#!/bin/sh\n', empty: '' })
  t.strictSame(elfNeeded(`${folder}/program`), ['libxml2.so.16', 'libc.so.6'])
  t.strictSame(elfNeeded(`${folder}/script`), [])
  t.strictSame(elfNeeded(`${folder}/empty`), [])
  t.strictSame(elfNeeded(fileURLToPath(import.meta.url)), [])
})

await t.test(
  'names what is missing, through the libraries that are there, and stands a circle',
  async (t) => {
    const folder = t.testdir({
      program: elf(['liba.so.1', 'libgone.so.2']),
      lib: { 'liba.so.1': elf(['libb.so']), 'libb.so': elf(['liba.so.1', 'libdeep.so.3']) },
    })
    t.strictSame(missingLibraries([`${folder}/program`], [`${folder}/lib`]), ['libdeep.so.3', 'libgone.so.2'])
  },
)

await t.test('knows a renamed package by its library', async (t) => {
  t.ok(looksLikeHome('libxml2-16', 'libxml2.so.16'))
  t.ok(looksLikeHome('libssl3t64', 'libssl.so.3'))
  t.ok(looksLikeHome('libgssapi-krb5-2', 'libgssapi_krb5.so.2'))
  t.notOk(looksLikeHome('libxml2-15', 'libxml2.so.16'))
  t.notOk(looksLikeHome('libxslt1', 'libxml2.so.16'))
})

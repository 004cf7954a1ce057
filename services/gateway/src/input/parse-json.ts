import { invalidField, type ServiceError } from '@pitboss/errors/service-error'

/** Most containers inside one another, the outermost included. Source: docs/contract.md, section 8. */
const jsonDepthMax = 20

const pathCharactersMax = 256
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
/** A whole number that a double may not hold. */
const longInteger = /^-?[0-9]{16,}$/
const hex4 = /^[0-9A-Fa-f]{4}$/
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/**
 * Parses the bytes of a JSON text more strictly than JSON.parse: UTF-8 without a byte order mark, no key
 * twice in one object, no `__proto__` or `constructor.prototype`, no NUL, no lone surrogate, no whole number
 * that a double cannot hold, at most 20 levels.
 * @throws ServiceError VALIDATION_ERROR with the dotted path of the offence, `body` for the text as a whole.
 * Source: docs/contract.md, section 1.
 */
export function parseJson(bytes: Uint8Array): unknown {
  return new Parser(decodeUtf8(bytes)).parse()
}

/** Parses JSON of our own making; null for anything that is none. */
export function parseOrNull(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return null
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw invalidField('body', 'must not begin with a byte order mark')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw invalidField('body', 'must be UTF-8')
  }
}

class Parser {
  readonly #text: string
  readonly #path: (string | number)[] = []
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  parse(): unknown {
    const value = this.#value()
    this.#space()
    if (this.#at < this.#text.length) throw this.#unreadable()
    return value
  }

  #value(): unknown {
    this.#space()
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object()
      case '[':
        return this.#array()
      case '"':
        return this.#string()
      case 't':
        return this.#word('true', true)
      case 'f':
        return this.#word('false', false)
      case 'n':
        return this.#word('null', null)
      default:
        return this.#number()
    }
  }

  #object(): Record<string, unknown> {
    this.#enter()
    const entries = new Map<string, unknown>()
    if (this.#taken('}')) return this.#leave({})
    do {
      this.#space()
      if (this.#text[this.#at] !== '"') throw this.#unreadable()
      const key = this.#string()
      this.#path.push(key)
      if (entries.has(key)) throw this.#offence('must not appear twice')
      if (key === '__proto__') throw this.#offence('is not allowed')
      if (!this.#taken(':')) throw this.#unreadable()
      const value = this.#value()
      if (key === 'constructor' && isObject(value) && Object.hasOwn(value, 'prototype')) {
        throw this.#offence('is not allowed')
      }
      entries.set(key, value)
      this.#path.pop()
    } while (this.#taken(','))
    if (!this.#taken('}')) throw this.#unreadable()
    return this.#leave(Object.fromEntries(entries))
  }

  #array(): unknown[] {
    this.#enter()
    const items: unknown[] = []
    if (this.#taken(']')) return this.#leave(items)
    do {
      this.#path.push(items.length)
      items.push(this.#value())
      this.#path.pop()
    } while (this.#taken(','))
    if (!this.#taken(']')) throw this.#unreadable()
    return this.#leave(items)
  }

  #string(): string {
    let out = ''
    let from = this.#at + 1
    for (this.#at = from; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === 0x22) break
      if (Number.isNaN(code) || code < 0x20) throw this.#unreadable()
      if (code !== 0x5c) continue
      out += this.#text.slice(from, this.#at) + this.#escape()
      from = this.#at + 1
    }
    out += this.#text.slice(from, this.#at)
    this.#at += 1
    if (out.includes('\0')) throw this.#offence('must not contain NUL')
    if (!out.isWellFormed()) throw this.#offence('must not contain a lone surrogate')
    return out
  }

  /** Reads an escape, from its backslash to its last character. */
  #escape(): string {
    const letter = this.#text[++this.#at] ?? ''
    if (letter !== 'u') {
      const plain = escapes[letter]
      if (plain === undefined) throw this.#unreadable()
      return plain
    }
    const digits = this.#text.slice(this.#at + 1, this.#at + 5)
    if (!hex4.test(digits)) throw this.#unreadable()
    this.#at += 4
    return String.fromCharCode(Number.parseInt(digits, 16))
  }

  #number(): number {
    number.lastIndex = this.#at
    const digits = number.exec(this.#text)?.[0]
    if (digits === undefined) throw this.#unreadable()
    this.#at += digits.length
    const value = Number(digits)
    if (!Number.isFinite(value)) throw this.#offence('is too large a number')
    // It would be stored and shown as another, as an id of 64 bits in an operator's outcome.
    if (longInteger.test(digits) && String(value) !== digits)
      throw this.#offence('is too large a number; send it as text')
    return value
  }

  #word<Value>(word: string, value: Value): Value {
    if (!this.#text.startsWith(word, this.#at)) throw this.#unreadable()
    this.#at += word.length
    return value
  }

  #space(): void {
    for (; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    }
  }

  #taken(character: string): boolean {
    this.#space()
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #enter(): void {
    this.#at += 1
    this.#depth += 1
    if (this.#depth > jsonDepthMax)
      throw invalidField('body', `must not be deeper than ${jsonDepthMax} levels`)
  }

  #leave<Value>(value: Value): Value {
    this.#depth -= 1
    return value
  }

  #unreadable(): ServiceError {
    return invalidField('body', `must be JSON; it cannot be read at character ${this.#at + 1}`)
  }

  #offence(message: string): ServiceError {
    const path = this.#path.join('.').toWellFormed().replaceAll('\0', '�').slice(0, pathCharactersMax)
    return invalidField(path === '' ? 'body' : path, message)
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/**
 * Control characters, line and paragraph separators and marks of direction, for a class of a regular expression
 * with the flag `u`: they move a cursor, colour text or turn it around. Source: docs/contract.md, section 1.
 */
export const actingCharacters = String.raw`\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`

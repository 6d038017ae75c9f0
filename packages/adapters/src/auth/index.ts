export { isLoopback, refusalOfAuthOff } from './loopback.js'
export { type Grant, type OpenedTokens, openTokens, type Tokens, type TokensOptions } from './tokens.js'

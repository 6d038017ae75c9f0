export { type AnswerPast, answerPastFrom, type PastQuestion, type PastSource, viewRoutesOf } from './answer-past.js'
export { type PastAnswers, pastAnswersHere, pastAnswersOnThread } from './past-answers.js'

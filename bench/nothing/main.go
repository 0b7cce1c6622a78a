// Nothing is a program that does nothing: the floor of every start.
package main

func main() {}

package headwater.program;

/** Looks for the class that its argument names. */
public final class Named {
    private Named() {}

    public static void main(String[] arguments) throws Exception {
        System.out.println(Class.forName(arguments[0]));
    }
}
